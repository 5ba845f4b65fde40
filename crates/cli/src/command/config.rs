//! `minfer config`: every setting, its value, and where that came from.

use anyhow::Result;
use serde_json::{Value, json};

use crate::flags::config_file;
use crate::flags::settings::{Setting, Settings};
use crate::flags::table;
use crate::output::{self, Style};

/// The command. What is wrong with environment and file has been said by now.
///
/// # Errors
/// Standard output fails.
pub fn run(settings: &Settings, _style: Style) -> Result<()> {
    if settings.on(&table::JSON) {
        let entries = settings.iter().map(|setting| {
            let value = setting.value.as_ref().map(|value| value.text());
            let entry = json!({
                "value": value,
                "source": source(setting),
                "env": setting.flag.env(),
            });
            (setting.flag.name.to_owned(), entry)
        });
        return output::pretty_json(&Value::Object(entries.collect()));
    }
    let path = settings.path(&table::CONFIG_FILE).or_else(config_file::default_path);
    let file = path.map_or("no place for a configuration file".into(), |path| {
        let there = if path.exists() { "" } else { " (not there)" };
        format!("configuration file: {}{there}", path.display())
    });
    // The lines are those of a configuration file; what is unset is a comment.
    let mut text = format!("# {file}\n");
    for setting in settings.iter() {
        let (name, source) = (setting.flag.name, source(setting));
        text += &match &setting.value {
            Some(value) if !setting.is_unset() => {
                format!("{name:<22} = {:<12}  # {source}\n", value.written())
            }
            _ => format!("# {name:<20} =               # {source}\n"),
        };
    }
    output::print(&text)
}

/// Where a setting came from, in words.
fn source(setting: &Setting) -> String {
    if setting.is_unset() { "unset".to_owned() } else { setting.source.to_string() }
}
