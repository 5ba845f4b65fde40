//! Settings of which only one can count: the one of the nearest source does, and two of one source
//! are refused, both by name.

use anyhow::Result;

use super::settings::{Settings, Source};
use super::{Flag, table};
use crate::failure::usage;

/// What may be given.
#[derive(Debug)]
enum One {
    /// An argument without a name.
    Argument(&'static str),
    /// A row of the table.
    Row(&'static Flag),
    /// A row of the table with another value than this one, which goes with the others.
    Unless(&'static Flag, &'static str),
}
use One::{Argument, Row, Unless};

/// Of each line one counts.
static GROUPS: &[&[One]] = &[
    &[Argument("MODEL"), Row(&table::MODEL), Row(&table::HF_REPO)],
    &[
        Argument("PROMPT"),
        Argument("TEXT"),
        Row(&table::PROMPT),
        Row(&table::FILE),
        Row(&table::MESSAGES),
    ],
    &[
        Row(&table::JSON_SCHEMA),
        Row(&table::JSON_SCHEMA_FILE),
        Row(&table::GRAMMAR),
        Row(&table::GRAMMAR_FILE),
        Row(&table::REGEX),
    ],
    &[Row(&table::CHAT_TEMPLATE), Row(&table::CHAT_TEMPLATE_FILE)],
    // A list of messages has its own system message; a raw prompt has no messages at all.
    &[Row(&table::MESSAGES), Row(&table::SYSTEM_PROMPT)],
    // The exact path caches f32 whatever else is asked for.
    &[Row(&table::EXACT), Unless(&table::CACHE_TYPE_K, "f32")],
    &[Row(&table::EXACT), Unless(&table::CACHE_TYPE_V, "f32")],
    // The exact path rounds no operands either.
    &[Row(&table::EXACT), Unless(&table::STAGING, "f32")],
    &[Row(&table::RAW), Row(&table::MESSAGES)],
    &[Row(&table::RAW), Row(&table::SYSTEM_PROMPT)],
    &[Row(&table::RAW), Row(&table::TOOLS)],
    &[Row(&table::RAW), Row(&table::CHAT_TEMPLATE)],
    &[Row(&table::RAW), Row(&table::CHAT_TEMPLATE_FILE)],
];

impl One {
    /// Where it is given, if it is.
    fn source(&self, settings: &Settings) -> Option<Source> {
        match self {
            Argument(name) => {
                (!settings.positional(name).is_empty()).then_some(Source::CommandLine)
            }
            Row(flag) if settings.is_off(flag) => None,
            Unless(flag, value) if settings.text(flag) == Some(*value) => None,
            Row(flag) | Unless(flag, _) => {
                settings.source(flag).filter(|source| **source != Source::Default).cloned()
            }
        }
    }

    /// What its user wrote.
    fn written(&self, source: &Source) -> String {
        match (self, source) {
            (Argument(name), _) => format!("the argument {name}"),
            (Row(flag) | Unless(flag, _), Source::CommandLine) => flag.spelled(),
            (Row(_) | Unless(..), Source::Environment(_)) => source.to_string(),
            (
                Row(flag) | Unless(flag, _),
                Source::Default | Source::Catalog(_) | Source::File(..),
            ) => format!("{source}: {}", flag.name),
        }
    }
}

/// Leaves one of each group.
///
/// # Errors
/// One source gives two of a group.
pub fn settle(settings: &mut Settings) -> Result<()> {
    for group in GROUPS {
        let given: Vec<(&One, Source)> =
            group.iter().filter_map(|one| Some((one, one.source(settings)?))).collect();
        let Some(nearest) = given.iter().map(|(_, source)| source.rank()).max() else { continue };
        let (kept, farther): (Vec<_>, Vec<_>) =
            given.iter().partition(|(_, source)| source.rank() == nearest);
        if let [(first, here), (second, there), ..] = kept.as_slice() {
            let (first, second) = (first.written(here), second.written(there));
            return Err(usage(format!(
                "{first} and {second} exclude each other: give one of them"
            )));
        }
        for (one, _) in farther {
            match one {
                Argument(_) => {}
                Row(flag) | Unless(flag, _) => settings.forget(flag)?,
            }
        }
    }
    Ok(())
}
