//! `minfer rm`: removes fetched models.

use std::io::{IsTerminal as _, stdin};

use anyhow::{Result, bail};

use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::hub::reference::{self, Reference};
use crate::hub::repository::size;
use crate::hub::{Found, Hub, Origin};
use crate::output::{self, Style};

/// The command.
///
/// # Errors
/// A model is not there, or is another program's.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let hub = Hub::new(settings, style)?;
    for name in settings.positional("MODEL") {
        let found = find(&hub, name)?;
        if found.origin != Origin::HuggingFace {
            bail!("{} belongs to {}: remove it there", found.name, found.origin.name());
        }
        if !settings.on(&table::YES) && !confirmed(&found)? {
            output::note("kept");
            continue;
        }
        let freed = hub.cache().remove(&found)?;
        output::note(&format!("removed {} ({} freed)", found.name, size(freed)));
    }
    Ok(())
}

/// The model at hand of a name; a catalog name stands for what it was fetched as.
fn find(hub: &Hub, name: &str) -> Result<Found> {
    let path = match Reference::parse(name) {
        Ok(Reference::Catalog(entry)) => hub.catalog_at_hand(entry),
        Ok(Reference::Repo(repo)) => hub.cache().find(&repo),
        Ok(Reference::Path(path)) => Some(path),
        Ok(Reference::Name(_)) | Err(_) => None,
    };
    let same = |found: &Found| {
        path.as_ref().is_some_and(|path| *path == found.path) || reference::is_named(found, name)
    };
    let found = hub.found().into_iter().find(same);
    found.ok_or_else(|| usage(format!("{name} is not at hand; `minfer list` shows what is")))
}

fn confirmed(found: &Found) -> Result<bool> {
    if !stdin().is_terminal() {
        return Err(usage("nobody to ask: say --yes to remove without asking"));
    }
    output::note(&format!("remove {} ({})? [y/N]", found.name, size(found.bytes)));
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
