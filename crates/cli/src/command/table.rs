//! The table of commands.

use anyhow::Result;

use super::{
    bench, chat, completions, config, devices, docs, explain, inspect, list, perplexity, pull, rm,
    run, score, self_test, synth, tokenize, trace, version,
};
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

const fn optional(name: &'static str, help: &'static str) -> Positional {
    Positional { name, help, required: false, many: false, values: &[] }
}

const fn required(name: &'static str, help: &'static str) -> Positional {
    Positional { name, help, required: true, many: false, values: &[] }
}

impl Positional {
    const fn many(self) -> Positional {
        Positional { many: true, ..self }
    }

    const fn of(self, values: &'static [&'static str]) -> Positional {
        Positional { values, ..self }
    }
}

/// What a command does.
pub type Action = fn(&Settings, Style) -> Result<()>;

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
    pub run: Action,
}

const fn row(
    (verb, name, run): (Verb, &'static str, Action),
    positionals: &'static [Positional],
    about: &'static str,
    more: &'static str,
) -> CommandRow {
    CommandRow { verb, name, about, more, positionals, hidden: false, run }
}

const MODEL: Positional = optional("MODEL", "The model; as good as -m");

/// Every command, in the order of help.
pub static COMMANDS: &[CommandRow] = &[
    row(
        (Verb::Run, "run", run::run),
        &[optional("PROMPT", "The prompt; else -p, -f, --messages or standard input").many()],
        "Answer one prompt",
        "The prompt goes through the model's chat template unless --raw is given. Beside PROMPT \
         or -p, what is on standard input follows after a blank line, if that is a file or a pipe \
         (`< /dev/null` leaves it out; a pipe on which nothing comes for 3 s is left with a \
         warning). The answer is written to standard output as it comes; everything else goes to \
         standard error. An interrupted answer ends with status 130.",
    ),
    row(
        (Verb::Chat, "chat", chat::run),
        &[],
        "Talk with a model",
        "One line is one message; a line that ends in a backslash goes on. Ctrl-C stops an \
         answer, not the program. /help shows the commands.",
    ),
    row(
        (Verb::Pull, "pull", pull::run),
        &[required("MODEL", "A catalog name or user/repo:quant").many()],
        "Fetch models and print their paths",
        "Models go to Hugging Face's cache. An interrupted fetch goes on where it ended.",
    ),
    row((Verb::List, "list", list::run), &[], "Show the models at hand, and the catalog", ""),
    row(
        (Verb::Rm, "rm", rm::run),
        &[required("MODEL", "A name that `minfer list` shows").many()],
        "Remove fetched models",
        "Only what lies in Hugging Face's cache is removed; other programs' models are theirs.",
    ),
    row(
        (Verb::Inspect, "inspect", inspect::run),
        &[MODEL],
        "Show what a model file holds and how it runs",
        "",
    ),
    row(
        (Verb::Tokenize, "tokenize", tokenize::run),
        &[optional("TEXT", "The text; else -f or standard input").many()],
        "Show the tokens of a text",
        "",
    ),
    row(
        (Verb::Score, "score", score::run),
        &[optional("TEXT", "The text; else -f or standard input").many()],
        "Show the log-probabilities of a text and its most probable next tokens",
        "The text is taken as it is, without a chat template.",
    ),
    row(
        (Verb::Perplexity, "perplexity", perplexity::run),
        &[],
        "Compute the perplexity of a text",
        "The text is cut into chunks of -c tokens (512), each beginning with the begin token \
         where the model wants one; the second half of each chunk is scored, as llama.cpp does.",
    ),
    row(
        (Verb::Bench, "bench", bench::run),
        &[MODEL],
        "Measure prompt and generation speed",
        "The columns and options are llama-bench's; GB/s counts weights and cached keys and \
         values that a step reads.",
    ),
    row(
        (Verb::Explain, "explain", explain::run),
        &[MODEL],
        "Show which kernel runs each op, where, and why",
        "",
    ),
    row(
        (Verb::SelfTest, "self-test", self_test::run),
        &[],
        "Test a device, measure it, and write what was found into one file",
        "Makes every kernel, runs the cases of every op against the reference, compares a short \
         generation with the processor's (of small models, and of -m where it is given), times \
         kernels and their variants. The file is what to send with a report about a machine, and \
         what --tune reads. A wrong result ends with status 1.",
    ),
    row(
        (Verb::Trace, "trace", trace::diff::run),
        &[
            required("ACTION", "What to do with them").of(&["diff"]),
            required("A", "A folder that --trace wrote"),
            required("B", "One of the same text, on another device"),
        ],
        "Name the first node where two traces part",
        "Values are matched by the names of their nodes; devices fuse differently, so each trace \
         may have some that the other lacks. Traces that part end with status 1.",
    ),
    row((Verb::Devices, "devices", devices::run), &[], "Show the devices of this machine", ""),
    row((Verb::Config, "config", config::run), &[], "Show every setting and its source", ""),
    row(
        (Verb::Synth, "synth", synth::run),
        &[optional("SHAPE", "The model's shape; without one the shapes are shown")],
        "Write a model file of random weights, for measurements",
        "",
    ),
    row(
        (Verb::Completions, "completions", completions::run),
        &[required("SHELL", "The shell").of(&["bash", "elvish", "fish", "powershell", "zsh"])],
        "Print completions for a shell",
        "",
    ),
    row((Verb::Man, "man", completions::man), &[], "Print the manual page", ""),
    row((Verb::Version, "version", version::run), &[], "Show the version", ""),
    CommandRow {
        hidden: true,
        ..row(
            (Verb::Docs, "docs", docs::run),
            &[required("PAGE", "The page")
                .of(&["ops", "quants", "models", "support", "flags", "limits"])],
            "Print a generated page of the documentation",
            "",
        )
    },
];
