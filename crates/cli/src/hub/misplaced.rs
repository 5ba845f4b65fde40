//! A model that stands where a text is expected: `minfer run llama3.2 hi`, as other programs have
//! it.

use anyhow::Result;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{catalog, find};
use crate::failure::usage;
use crate::flags::settings::{Settings, Source};
use crate::flags::table;

/// How sure a word is a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Likeness {
    /// It is one.
    Model,
    /// It may be one, or the first word of a question.
    Perhaps,
    /// It is text.
    Text,
}

/// What a word looks like.
pub fn likeness(word: &str) -> Likeness {
    let lower = word.to_ascii_lowercase();
    let is_file = lower.ends_with(".gguf")
        && (!word.contains(char::is_whitespace) || std::path::Path::new(word).is_file());
    if is_file || catalog::find(word).is_some() || is_repository(&lower) {
        Likeness::Model
    } else if is_versioned(&lower) {
        Likeness::Perhaps
    } else {
        Likeness::Text
    }
}

/// `user/repo` of a hub. `and/or` has its form too, so that something else must tell.
fn is_repository(lower: &str) -> bool {
    let tells = lower.contains("gguf") || lower.contains(':') || lower.starts_with("hf.co/");
    tells && super::reference::Repo::parse(lower).is_ok()
}

/// `name:tag`, `name3.2`, `name-7b`, or the beginning of a catalog name with its number.
fn is_versioned(lower: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    if !lower.starts_with(|c: char| c.is_ascii_alphabetic()) || !lower.chars().all(known) {
        return false;
    }
    if let Some((_, tag)) = lower.split_once(':') {
        return !tag.is_empty();
    }
    let digit = |c: char| c.is_ascii_digit();
    let begins = |entry: &catalog::Entry| entry.name.starts_with(lower);
    let has_point = lower
        .split_once('.')
        .is_some_and(|(name, minor)| name.ends_with(digit) && minor.starts_with(digit));
    let has_size = lower
        .strip_suffix(['b', 'm'])
        .and_then(|rest| rest.rsplit_once('-'))
        .is_some_and(|(_, size)| size.parse::<f32>().is_ok());
    has_point || has_size || lower.contains(digit) && catalog::ENTRIES.iter().any(begins)
}

/// Refuses words of which the first is a model and the others, if any, are a text; adds a hint
/// where it may be one. A model that is named on the command line makes every word a text.
///
/// # Errors
/// The line to type instead.
pub fn refuse(settings: &mut Settings, command: &str) -> Result<()> {
    let typed = |flag| settings.source(flag) == Some(&Source::CommandLine);
    if typed(&table::MODEL) || typed(&table::HF_REPO) {
        return Ok(());
    }
    let positional = ["PROMPT", "TEXT"].into_iter().find(|n| !settings.positional(n).is_empty());
    let Some(positional) = positional else { return Ok(()) };
    let (word, rest) = match settings.positional(positional) {
        [word, rest @ ..] => (word.as_str(), rest.join(" ")),
        [] => return Ok(()),
    };
    let text = if rest.is_empty() { positional.to_owned() } else { format!("{rest:?}") };
    let line = format!("minfer {command} -m {word} {text}");
    match likeness(word) {
        Likeness::Model => Err(usage(format!(
            "{word:?} is a model, and {positional} was expected: a model goes with -m, as in \
             `{line}`"
        ))),
        Likeness::Perhaps => {
            let near = find::suggested(word);
            let hint = format!("{word:?} is taken as text; were it a model: `{line}`{near}");
            settings.hints.push(hint);
            Ok(())
        }
        Likeness::Text => Ok(()),
    }
}

/// Adds a tip to the error about an argument that a command has no place for.
pub fn explain(mut error: clap::Error, command: &str) -> clap::Error {
    let argument = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(argument))) => argument.clone(),
        _other => return error,
    };
    if let Some(tip) = tip(command, &argument) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

fn tip(command: &str, argument: &str) -> Option<String> {
    let has = |flag: &crate::flags::Flag| {
        let row = crate::command::COMMANDS.iter().find(|row| row.name == command);
        row.is_some_and(|row| flag.applies_to(row.verb))
    };
    if argument.starts_with('-') || !has(&table::MODEL) {
        return None;
    }
    if likeness(argument) != Likeness::Text {
        return Some(format!("a model goes with -m: minfer {command} -m {argument}"));
    }
    if has(&table::FILE) {
        let is_file = std::path::Path::new(argument).is_file();
        let file = if is_file { argument } else { "FILE" };
        return Some(format!("a text comes from a file: minfer {command} -f {file}"));
    }
    Some("to answer one prompt: minfer run PROMPT".to_owned())
}
