//! The command line: the table made into clap's commands, and llama.cpp's spellings into ours.
//!
//! clap knows one letter after one dash. Names of several letters (`-ngl 0`) are rewritten to the
//! long flag before clap sees them, by walking the arguments as the table says they are meant: what
//! is the value of a flag, or stands after `--`, stays as it is.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, StyledStr};
use clap::{Arg, ArgAction, Command};

use super::{Flag, Kind, Theme, Verb, table};
use crate::command::{COMMANDS, CommandRow, Positional};

/// The whole command line, for parsing, help, completions and the man page.
pub fn build() -> Command {
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
        .subcommands(COMMANDS.iter().map(command))
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

/// Rewrites llama.cpp's spellings to the names that clap was given.
pub fn translate(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments.into_iter();
    let mut out: Vec<OsString> = arguments.next().into_iter().collect();
    let mut verb = None;
    while let Some(argument) = arguments.next() {
        let Some(text) = argument.to_str() else {
            out.push(argument);
            continue;
        };
        if text == "--" {
            out.push(argument);
            out.extend(arguments);
            break;
        }
        if verb.is_none() {
            verb = COMMANDS.iter().find(|row| row.name == text).map(|row| row.verb);
            out.push(argument);
            continue;
        }
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let found = verb.and_then(|verb| find(verb, name));
        match (found, attached) {
            (Some((flag, Spelling::Dashed)), Some(value)) => {
                out.push(format!("--{}={value}", flag.name).into());
            }
            (Some((flag, Spelling::Dashed)), None) => out.push(format!("--{}", flag.name).into()),
            (Some((_, Spelling::Known)), _) | (None, _) => out.push(argument.clone()),
        }
        // The next argument is this flag's value, whatever it looks like.
        let takes_next = found.is_some_and(|(flag, _)| !matches!(flag.kind, Kind::Switch(_)));
        if takes_next && attached.is_none() {
            out.extend(arguments.next());
        }
    }
    out
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
