//! What was probably meant by a word that is no command.

use clap::error::{ContextKind, ContextValue, ErrorKind};

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

/// Adds a tip to an error about an unknown command, where there is one to give.
pub fn suggest(mut error: clap::Error) -> clap::Error {
    let word = match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => word.clone(),
        _other => return error,
    };
    if let Some(tip) = tip(&word) {
        // What merely looks alike (`show`, `score`) would mislead beside it.
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
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
