//! `minfer rm`: removes fetched models.

use std::io::{IsTerminal as _, stdin};

use anyhow::{Result, bail};

use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::hub::partial::Unfinished;
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
        match (find(&hub, name), unfinished(&hub, name)) {
            (Some(found), _) => remove(&hub, &found, settings.on(&table::YES))?,
            (None, Some(left)) => remove_unfinished(&hub, name, &left, settings.on(&table::YES))?,
            (None, None) => {
                let message = format!("{name} is not at hand; `minfer list` shows what is");
                return Err(usage(message));
            }
        }
    }
    Ok(())
}

fn remove(hub: &Hub, found: &Found, yes: bool) -> Result<()> {
    if found.origin != Origin::HuggingFace {
        bail!("{} belongs to {}: remove it there", found.name, found.origin.name());
    }
    if !yes && !confirmed(&format!("{} ({})", found.name, size(found.bytes)))? {
        output::note("kept");
        return Ok(());
    }
    let freed = hub.cache().remove(found)?;
    output::note(&format!("removed {} ({} freed)", found.name, size(freed)));
    Ok(())
}

fn remove_unfinished(hub: &Hub, name: &str, left: &Unfinished, yes: bool) -> Result<()> {
    let what = format!("what has come of {name} ({})", size(left.bytes));
    if !yes && !confirmed(&what)? {
        output::note("kept");
        return Ok(());
    }
    left.remove(hub.cache())?;
    output::note(&format!("removed {what}"));
    Ok(())
}

/// What an earlier fetch of a name has left.
fn unfinished(hub: &Hub, name: &str) -> Option<Unfinished> {
    let repos = Reference::parse(name).ok()?.repos();
    hub.cache().unfinished().into_iter().find(|left| repos.contains(&left.repo))
}

/// The model at hand of a name; a catalog name stands for what it was fetched as.
fn find(hub: &Hub, name: &str) -> Option<Found> {
    let path = match Reference::parse(name) {
        Ok(Reference::Catalog(entry)) => hub.catalog_at_hand(entry),
        Ok(Reference::Repo(repo)) => hub.cache().find(&repo),
        Ok(Reference::Path(path)) => Some(path),
        Ok(Reference::Name(_)) | Err(_) => None,
    };
    let same = |found: &Found| {
        path.as_ref().is_some_and(|path| *path == found.path) || reference::is_named(found, name)
    };
    hub.found().into_iter().find(same)
}

fn confirmed(what: &str) -> Result<bool> {
    if !stdin().is_terminal() {
        return Err(usage("nobody to ask: say --yes to remove without asking"));
    }
    output::note(&format!("remove {what}? [y/N]"));
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
