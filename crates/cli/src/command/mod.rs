//! The commands: one row and one file each.

mod answer;
mod load;
mod prompt;
mod report;
mod run;
mod sampling;
mod trace;

use anyhow::Result;

use crate::flags::Verb;
use crate::flags::settings::Settings;
use crate::output::Style;

/// An argument without a name.
#[derive(Debug)]
pub struct Positional {
    /// What help calls it.
    pub name: &'static str,
    /// One line.
    pub help: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// Whether there may be several.
    pub many: bool,
    /// The words that it may be; any where there are none.
    pub values: &'static [&'static str],
}

impl Positional {
    const fn optional(name: &'static str, help: &'static str) -> Positional {
        Positional { name, help, required: false, many: false, values: &[] }
    }

    const fn required(name: &'static str, help: &'static str) -> Positional {
        Positional { required: true, ..Positional::optional(name, help) }
    }

    const fn many(self) -> Positional {
        Positional { many: true, ..self }
    }

    const fn of(self, values: &'static [&'static str]) -> Positional {
        Positional { values, ..self }
    }
}

/// A command.
#[derive(Debug)]
pub struct CommandRow {
    /// Which.
    pub verb: Verb,
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// What else there is to say.
    pub more: &'static str,
    /// Arguments without a name.
    pub positionals: &'static [Positional],
    /// Whether help passes it over.
    pub hidden: bool,
    /// What it does.
    pub run: fn(&Settings, Style) -> Result<()>,
}

const fn row(
    verb: Verb,
    name: &'static str,
    run: fn(&Settings, Style) -> Result<()>,
    positionals: &'static [Positional],
    about: &'static str,
    more: &'static str,
) -> CommandRow {
    CommandRow { verb, name, about, more, positionals, hidden: false, run }
}

/// Every command, in the order of help.
pub static COMMANDS: &[CommandRow] = &[row(
    Verb::Run,
    "run",
    run::run,
    &[Positional::optional("PROMPT", "The prompt; else -p, -f, --messages or standard input")
        .many()],
    "Answer one prompt",
    "The prompt goes through the model's chat template unless --raw is given. The answer is written to standard \
         output as it comes; everything else goes to standard error.",
)];

/// A token's text for people and JSON: of a special token its name, of half a character the replacement character.
fn piece(tokenizer: &minfer_tokenizer::Tokenizer, id: u32) -> String {
    let bytes = match tokenizer.piece(id) {
        None | Some([]) => tokenizer.text(id).unwrap_or_default(),
        Some(bytes) => bytes,
    };
    String::from_utf8_lossy(bytes).into_owned()
}
