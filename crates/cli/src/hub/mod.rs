//! Where models come from and are kept.

pub mod peak;

use std::path::PathBuf;

use anyhow::Result;

use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::Style;

pub fn locate(settings: &Settings, _style: Style) -> Result<PathBuf> {
    settings.path(&table::MODEL).filter(|p| p.exists()).ok_or_else(|| usage("no model"))
}
