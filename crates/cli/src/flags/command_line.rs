//! The command line: the table made into clap's commands, and llama.cpp's spellings into ours.
//!
//! clap knows one letter after one dash. Names of several letters (`-ngl 0`) are rewritten to the
//! long flag before clap sees them, by walking the arguments as the table says they are meant: what
//! is the value of a flag, or stands after `--`, stays as it is. llama.cpp's flags that are not
//! ours are answered here too, before clap reads them as letters.

use std::ffi::OsString;
use std::iter::Peekable;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, StyledStr};
use clap::{Arg, ArgAction, Command};

use super::foreign::{self, Answer, Foreign};
use super::{Flag, Kind, Theme, Verb, table};
use crate::command::{COMMANDS, CommandRow, Positional};
use crate::failure::usage;

/// The whole command line, for parsing and help.
pub fn build() -> Command {
    with(COMMANDS.iter())
}

/// The command line without what help passes over, for completions and the man page.
pub fn visible() -> Command {
    with(COMMANDS.iter().filter(|row| !row.hidden))
}

fn with<'r>(rows: impl Iterator<Item = &'r CommandRow>) -> Command {
    Command::new("minfer")
        .about("Runs large language models from GGUF files")
        .long_about(
            "Runs large language models from GGUF files.\n\n\
             Try: minfer run \"What is the capital of France?\"",
        )
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(rows.map(command))
}

fn command(row: &CommandRow) -> Command {
    let mut command = Command::new(row.name).about(row.about).hide(row.hidden);
    if !row.more.is_empty() {
        command = command.long_about(format!("{}\n\n{}", row.about, row.more));
    }
    command = command.args(row.positionals.iter().map(positional));
    for theme in Theme::ALL {
        for flag in table::rows_of(row.verb).filter(|flag| flag.theme == *theme) {
            command = command.args(arguments(flag));
        }
    }
    command
}

fn positional(row: &Positional) -> Arg {
    let arg = Arg::new(row.name).value_name(row.name).help(row.help).required(row.required);
    let arg = if row.values.is_empty() {
        arg
    } else {
        arg.value_parser(PossibleValuesParser::new(row.values.iter().copied()))
    };
    let action = if row.many { ArgAction::Append } else { ArgAction::Set };
    arg.action(action)
}

/// The arguments of a row: one, and for a switch the one that says no.
fn arguments(flag: &'static Flag) -> Vec<Arg> {
    let mut arg = Arg::new(flag.name)
        .long(flag.name)
        .visible_aliases(flag.aliases.iter().copied())
        .help_heading(flag.theme.title())
        .value_name(flag.value_name())
        .help(help(flag))
        .long_help(long_help(flag))
        .action(ArgAction::Append)
        .hide_possible_values(true);
    if let Some(letter) = flag.short {
        arg = arg.short(letter);
    }
    match flag.kind {
        Kind::Switch(no) => {
            arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
            // Help shows the one that changes something.
            let negative = Arg::new(no)
                .long(no)
                .help_heading(flag.theme.title())
                .help(off_help(flag))
                .long_help(format!("{}\n[env: {}=false]", off_help(flag), flag.env()))
                .action(ArgAction::SetTrue)
                .overrides_with(no)
                .hide(flag.default != "true");
            return vec![arg.hide(flag.default == "true"), negative];
        }
        Kind::Choice(words) => {
            // A word in capitals is as good; the value itself is checked with those of other
            // sources.
            arg = arg.value_parser(PossibleValuesParser::new(words)).ignore_case(true);
        }
        Kind::Integer(..) | Kind::Number(..) => arg = arg.allow_negative_numbers(true),
        Kind::Text(_) | Kind::List(_) => arg = arg.allow_hyphen_values(true),
        Kind::Path(_) => arg = arg.value_hint(clap::ValueHint::AnyPath),
    }
    vec![arg]
}

fn help(flag: &Flag) -> StyledStr {
    let mut text = flag.help.to_owned();
    if let Kind::Choice(words) = flag.kind {
        text += &format!(" ({})", words.join(", "));
    }
    // clap does not know these names, so it does not show them.
    let dashed: Vec<String> = flag.dashed.iter().map(|name| format!("-{name}")).collect();
    if !dashed.is_empty() {
        text += &format!(" [also: {}]", dashed.join(", "));
    }
    if !flag.default.is_empty() && !matches!(flag.kind, Kind::Switch(_)) {
        text += &format!(" [default: {}]", flag.default);
    }
    text.into()
}

/// What the flag that says no is for.
fn off_help(flag: &Flag) -> String {
    match flag.off {
        "" => format!("The opposite of --{}", flag.name),
        off => off.to_owned(),
    }
}

fn long_help(flag: &Flag) -> StyledStr {
    let mut text = help(flag).to_string();
    if !flag.more.is_empty() {
        text += &format!("\n{}", flag.more);
    }
    text += &format!("\n[env: {}]", flag.env());
    text.into()
}

/// A command line as clap understands it.
#[derive(Debug, Default)]
pub struct Translated {
    /// The arguments.
    pub arguments: Vec<OsString>,
    /// What there is to say of those that were passed over.
    pub hints: Vec<String>,
    /// Where arguments without a name stand.
    words: Vec<usize>,
    /// Whether one of those begins as a flag does.
    has_dashes: bool,
}

impl Translated {
    fn word(&mut self, argument: OsString) {
        self.words.push(self.arguments.len());
        self.arguments.push(argument);
    }

    /// A flag of llama.cpp's that this command lacks.
    ///
    /// # Errors
    /// It asks for what cannot be had.
    fn foreign(&mut self, name: &str, foreign: &Foreign) -> Result<()> {
        match foreign.answer {
            Answer::Needless(why) => self.hints.push(format!("{name} is not needed: {why}")),
            Answer::Refused(why) => return Err(usage(format!("{name}: {why}"))),
        }
        Ok(())
    }

    /// With words that begin with a dash behind a `--`, and so all words.
    fn parted(mut self) -> Translated {
        if self.has_dashes {
            let (mut flags, mut words) = (Vec::new(), vec![OsString::from("--")]);
            for (index, argument) in self.arguments.into_iter().enumerate() {
                let part = if self.words.contains(&index) { &mut words } else { &mut flags };
                part.push(argument);
            }
            flags.append(&mut words);
            self.arguments = flags;
        }
        self
    }
}

/// Rewrites llama.cpp's spellings to the names that clap was given.
///
/// # Errors
/// A flag of llama.cpp's that asks for what cannot be had, or that belongs to another command.
pub fn translate(arguments: impl IntoIterator<Item = OsString>) -> Result<Translated> {
    let mut arguments = arguments.into_iter().peekable();
    let mut line = Translated::default();
    line.arguments.extend(arguments.next());
    let mut command = None;
    while let Some(argument) = arguments.next() {
        let Some(text) = argument.to_str() else {
            line.word(argument);
            continue;
        };
        let Some(row) = command else {
            command = COMMANDS.iter().find(|row| row.name == text);
            line.arguments.push(argument);
            continue;
        };
        if text == "--" {
            if !line.has_dashes {
                line.arguments.push(argument);
            }
            arguments.by_ref().for_each(|argument| line.word(argument));
        } else if !text.starts_with('-') || text == "-" {
            line.word(argument);
        } else if is_text(row, text) {
            line.has_dashes = true;
            line.word(argument);
        } else {
            flag(&mut line, row, text, &mut arguments)?;
        }
    }
    Ok(line.parted())
}

/// Takes a flag over, with its value where that is the next argument.
fn flag(
    line: &mut Translated,
    row: &CommandRow,
    text: &str,
    rest: &mut Peekable<impl Iterator<Item = OsString>>,
) -> Result<()> {
    let (name, attached) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let Some((flag, spelling)) = find(row.verb, name) else {
        if let Some(foreign) = foreign::find(row.verb, name) {
            let is_value = |next: &OsString| foreign.values.iter().any(|value| next == value);
            if attached.is_none() {
                rest.next_if(is_value);
            }
            return line.foreign(name, foreign);
        }
        if let Some(flag) = elsewhere(name) {
            let (command, long) = (row.name, flag.name);
            return Err(usage(format!("`{command}` has no {name} (--{long})")));
        }
        line.arguments.push(text.into());
        return Ok(());
    };
    let is_list = |value: &str| value.contains(',');
    let next = rest.peek().and_then(|next| next.to_str());
    // llama-bench takes a list where others take a number.
    let several = row.verb == Verb::Bench
        && std::ptr::eq(flag, &table::THREADS)
        && attached.or(next).is_some_and(is_list);
    let known = if several { table::THREADS_LIST.name } else { flag.name };
    let value = attached.map_or(String::new(), |value| format!("={value}"));
    line.arguments.push(match spelling {
        Spelling::Known if !several => text.into(),
        Spelling::Known | Spelling::Dashed => format!("--{known}{value}").into(),
    });
    // The next argument is this flag's value, whatever it looks like.
    if attached.is_none() && !matches!(flag.kind, Kind::Switch(_)) {
        line.arguments.extend(rest.next());
    }
    Ok(())
}

/// Whether an argument that begins with a dash is a text: one of several words that begins with no
/// flag.
fn is_text(row: &CommandRow, text: &str) -> bool {
    let takes_text = row.positionals.iter().any(|one| ["PROMPT", "TEXT"].contains(&one.name));
    let head = text.split('=').next().unwrap_or_default();
    if !takes_text || !head.contains(char::is_whitespace) {
        return false;
    }
    let letter = text.chars().nth(1);
    // A value may stand right behind a letter; no name of several letters has a space.
    let is_short = letter == Some('h')
        || table::rows_of(row.verb).any(|flag| flag.short.is_some() && flag.short == letter);
    letter == Some('-') || !is_short
}

/// The flag of another command that is written so.
fn elsewhere(name: &str) -> Option<&'static Flag> {
    let letters = name.strip_prefix('-')?;
    table::rows().find(|flag| flag.dashed.contains(&letters))
}

/// How a flag is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spelling {
    /// As clap knows it.
    Known,
    /// Several letters after one dash.
    Dashed,
}

fn find(verb: Verb, name: &str) -> Option<(&'static Flag, Spelling)> {
    if let Some(long) = name.strip_prefix("--") {
        let flag = table::rows_of(verb).find(|f| f.name == long || f.aliases.contains(&long))?;
        return Some((flag, Spelling::Known));
    }
    let letters = name.strip_prefix('-')?;
    if let Some(flag) = table::rows_of(verb).find(|flag| flag.dashed.contains(&letters)) {
        return Some((flag, Spelling::Dashed));
    }
    let mut chars = letters.chars();
    let (Some(letter), None) = (chars.next(), chars.next()) else { return None };
    table::rows_of(verb).find(|flag| flag.short == Some(letter)).map(|f| (f, Spelling::Known))
}
