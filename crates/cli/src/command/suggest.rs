//! What was probably meant by a word that is no command.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::COMMANDS;
use crate::flags::{command_line, nearest};

/// Words that other programs have for what a command does here.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["generate", "complete", "completion", "ask", "prompt", "infer", "query"], "minfer run"),
    (&["interactive", "talk", "repl"], "minfer chat"),
    (&["download", "fetch", "get", "install"], "minfer pull"),
    (&["ls", "models", "ps"], "minfer list"),
    (&["remove", "delete", "uninstall"], "minfer rm"),
    (&["show", "info", "dump"], "minfer inspect"),
    (&["ppl"], "minfer perplexity"),
    (&["benchmark"], "minfer bench"),
    (&["help"], "minfer --help"),
];

/// Adds a tip to an error of a command's arguments or about an unknown command, where there is one
/// to give, and takes back what is not near enough to be one.
pub fn suggest(error: clap::Error, command: &str) -> clap::Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_command(error),
        ErrorKind::UnknownArgument => unknown_flag(error, command),
        _other => error,
    }
}

fn unknown_command(mut error: clap::Error) -> clap::Error {
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => word.clone(),
        _other => return error,
    };
    // What merely looks alike (`show`, `score`) would mislead beside a tip.
    error.remove(ContextKind::SuggestedSubcommand);
    let names = COMMANDS.iter().filter(|row| !row.hidden).map(|row| row.name);
    if let Some(tip) = tip(&word) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    } else if let Some(name) = nearest::of(&word, names) {
        let names = ContextValue::Strings(vec![name.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, names);
    }
    error
}

fn unknown_flag(mut error: clap::Error, command: &str) -> clap::Error {
    let (word, name) =
        match (error.get(ContextKind::InvalidArg), error.get(ContextKind::SuggestedArg)) {
            (Some(ContextValue::String(word)), Some(ContextValue::String(name))) => {
                (word.clone(), name.clone())
            }
            _other => return error,
        };
    if is_near(&word, &name) {
        return error;
    }
    // The usage was made around the suggestion.
    error.remove(ContextKind::SuggestedArg);
    let mut whole = command_line::build();
    whole.build();
    if let Some(command) = whole.find_subcommand_mut(command) {
        let usage = ContextValue::StyledStr(command.render_usage());
        error.insert(ContextKind::Usage, usage);
        if command.get_positionals().next().is_some() {
            let tip = format!("to pass '{word}' as a value, use '-- {word}'");
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
    }
    error
}

/// Whether a flag may be what a mistyped one was meant to be.
fn is_near(word: &str, name: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches('-').to_owned();
    nearest::of(&bare(word), [bare(name).as_str()].into_iter()).is_some()
}

fn tip(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    if ["serve", "server"].contains(&lower.as_str()) {
        return Some("this version has no server; `minfer run` and `minfer chat` answer".into());
    }
    if lower.ends_with(".gguf") {
        return Some(format!("to run this model: minfer run -m {word} PROMPT"));
    }
    if word.contains(char::is_whitespace) {
        return Some("to answer this prompt: minfer run PROMPT".into());
    }
    let known = ELSEWHERE.iter().find(|(words, _)| words.contains(&lower.as_str()));
    known.map(|(_, command)| format!("here it is called: {command}"))
}
