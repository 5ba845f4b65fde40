//! `minfer pull`: fetches models and prints where they are.

use anyhow::Result;

use crate::flags::settings::Settings;
use crate::hub::Hub;
use crate::hub::reference::Reference;
use crate::output::{self, Style};

/// The command.
///
/// # Errors
/// A model is unknown or cannot be fetched.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let hub = Hub::new(settings, style)?;
    for name in settings.positional("MODEL") {
        let path = hub.fetch(&Reference::parse(name)?)?;
        output::line(&path.display().to_string())?;
    }
    Ok(())
}
