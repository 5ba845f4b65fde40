//! `minfer list`: the models at hand, whoever stored them, and the catalog.

use anyhow::Result;
use serde_json::json;

use crate::flags::settings::Settings;
use crate::flags::table;
use crate::hub::repository::size;
use crate::hub::{Found, Hub, catalog};
use crate::output::{self, Style};

/// The command.
///
/// # Errors
/// There is no place for a cache.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let hub = Hub::new(settings, style)?;
    let found = hub.found();
    if settings.on(&table::JSON) {
        let rows = found.iter().map(|found| {
            json!({
                "name": found.name,
                "path": found.path,
                "bytes": found.bytes,
                "origin": found.origin.name(),
            })
        });
        return output::json(&rows.collect::<Vec<_>>());
    }
    if !found.is_empty() {
        output::print(&at_hand(&found))?;
    }
    output::print(&catalog(&found))?;
    for left in hub.cache().unfinished() {
        let name = catalog::of_repo(&left.repo).map_or(left.repo.as_str(), |entry| entry.name);
        output::note(&format!(
            "not fetched to the end: {name} ({} on disk); `minfer pull {name}` goes on, \
             `minfer rm {name}` removes it",
            size(left.bytes)
        ));
    }
    Ok(())
}

fn at_hand(found: &[Found]) -> String {
    let width = found.iter().map(|found| found.name.len()).max().unwrap_or(0);
    let mut text = "at hand (the name goes with -m):\n".to_owned();
    for found in found {
        let (name, bytes, origin) = (&found.name, size(found.bytes), found.origin.name());
        text += &format!("  {name:<width$}  {bytes:>8}  {origin:<12}  {}\n", found.path.display());
    }
    text + "\n"
}

fn catalog(found: &[Found]) -> String {
    let is_here = |name: &str| found.iter().any(|found| found.name == name);
    let mut text = "catalog (the name goes with -m: fetched on first use, and run with the \
                    publisher's settings):\n"
        .to_owned();
    for entry in catalog::ENTRIES {
        let settings = entry.settings.iter().filter(|(_, value)| !value.is_empty());
        let settings: Vec<String> =
            settings.map(|(flag, value)| format!("{} {value}", flag.name)).collect();
        let here = if is_here(entry.name) { ", at hand" } else { "" };
        text += &format!(
            "  {:<14}  {:>8}  {}{here} ({})\n",
            entry.name,
            size(entry.bytes),
            entry.about,
            settings.join(", ")
        );
    }
    text
}
