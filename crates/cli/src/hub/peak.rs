//! The measured speed of this machine's memory, kept between runs by `minfer devices --measure`.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context as _, Result};

fn path() -> Option<PathBuf> {
    let base = match std::env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".cache"),
    };
    Some(base.join("minfer/bytes-per-second"))
}

/// The bytes a second that were measured on this machine, if they were.
pub fn bytes_per_second() -> Option<f64> {
    static KNOWN: OnceLock<Option<f64>> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let text = fs::read_to_string(path()?).ok()?;
        text.trim().parse().ok().filter(|peak: &f64| peak.is_finite() && *peak > 0.0)
    })
}

/// Keeps a measurement.
///
/// # Errors
/// There is no place for it.
pub fn keep(bytes_per_second: f64) -> Result<PathBuf> {
    let path = path().context("HOME is not set: no place to keep the measurement")?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    fs::write(&path, format!("{bytes_per_second:.0}\n"))
        .with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}
