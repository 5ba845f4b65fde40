//! `minfer list`: the models at hand, whoever stored them, and the catalog.

use anyhow::Result;
use serde_json::json;

use crate::flags::settings::Settings;
use crate::flags::table;
use crate::hub::repository::size;
use crate::hub::{Hub, catalog};
use crate::output::{self, Style};

/// The command.
///
/// # Errors
/// There is no place for a cache.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let found = Hub::new(settings, style)?.found();
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
    let mut text = String::new();
    let width = found.iter().map(|found| found.name.len()).max().unwrap_or(0);
    for found in &found {
        let (name, bytes, origin) = (&found.name, size(found.bytes), found.origin.name());
        text += &format!("{name:<width$}  {bytes:>9}  {origin:<12}  {}\n", found.path.display());
    }
    if found.is_empty() {
        output::note("no models at hand; `minfer pull NAME` fetches one of the catalog:");
    } else {
        text += "\ncatalog:\n";
    }
    for entry in catalog::ENTRIES {
        let settings = entry.settings.iter().filter(|(_, value)| !value.is_empty());
        let settings: Vec<String> =
            settings.map(|(flag, value)| format!("{} {value}", flag.name)).collect();
        text += &format!("{:<14}  {} ({})\n", entry.name, entry.about, settings.join(", "));
    }
    output::print(&text)
}
