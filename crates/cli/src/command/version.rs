//! `minfer version`.

use anyhow::Result;
use serde_json::json;

use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// The command.
///
/// # Errors
/// Standard output fails.
pub fn run(settings: &Settings, _style: Style) -> Result<()> {
    let (version, os, arch) =
        (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    if settings.on(&table::JSON) {
        return output::json(&json!({ "version": version, "os": os, "arch": arch }));
    }
    output::line(&format!("minfer {version} ({os} {arch})"))
}
