//! `minfer config`: every setting, its value, and where that came from.

use anyhow::Result;
use serde_json::{Value as Json, json};

use crate::flags::settings::{Setting, Settings, Source};
use crate::flags::value::Value;
use crate::flags::{Flag, config_file, table};
use crate::hub;
use crate::hub::catalog::{self, Entry};
use crate::output::{self, Style};

/// The command. What is wrong with environment and file has been said by now.
///
/// # Errors
/// Standard output fails.
pub fn run(settings: &Settings, _style: Style) -> Result<()> {
    let named = hub::recommended(settings);
    if settings.on(&table::JSON) {
        let entries = settings.iter().map(|setting| {
            let value = setting.value.as_ref().map(|value| value.text());
            let mut entry = json!({
                "value": value,
                "source": source(setting),
                "env": setting.flag.env(),
            });
            if let Some((model, value)) = recommendation(setting, named) {
                entry["recommended"] = json!({ "value": value, "model": model });
            }
            (setting.flag.name.to_owned(), entry)
        });
        return output::pretty_json(&Json::Object(entries.collect()));
    }
    let path = settings.path(&table::CONFIG_FILE).or_else(config_file::default_path);
    let file = path.map_or("no place for a configuration file".into(), |path| {
        let there = if path.exists() { "" } else { " (not there)" };
        format!("configuration file: {}{there}", path.display())
    });
    // The lines are those of a configuration file. What is unset is a comment, and so is a default
    // that a recommendation comes before: as a line of a file it would come before that.
    let mut text = format!("# {file}; its lines are like these, a part of TOML\n");
    for setting in settings.iter() {
        let (name, source) = (setting.flag.name, source(setting));
        let value = setting.value.as_ref().filter(|_| !setting.is_unset());
        let value = value.map(Value::written).unwrap_or_default();
        let more = match recommendation(setting, named) {
            Some((model, value)) => {
                format!("; `run` and `chat` take {value:?}, recommended for {model}")
            }
            None if yields(setting) => "; the model's recommendation comes before it".to_owned(),
            None => String::new(),
        };
        text += &if setting.is_unset() || yields(setting) {
            format!("# {name:<20} = {value:<12}  # {source}{more}\n")
        } else {
            format!("{name:<22} = {value:<12}  # {source}\n")
        };
    }
    output::print(&text)
}

/// Whether some model's recommendation comes before a setting.
fn yields(setting: &Setting) -> bool {
    let advised = |entry: &Entry| entry.settings.iter().any(|(flag, _)| is_of(setting, flag));
    setting.source == Source::Default && catalog::ENTRIES.iter().any(advised)
}

/// What comes before a setting by the recommendation for the model that is named.
fn recommendation(
    setting: &Setting,
    named: Option<&'static Entry>,
) -> Option<(&'static str, &'static str)> {
    let entry = named.filter(|_| setting.source == Source::Default)?;
    let found = entry.settings.iter().find(|(flag, _)| is_of(setting, flag))?;
    Some((entry.name, found.1))
}

fn is_of(setting: &Setting, flag: &'static Flag) -> bool {
    std::ptr::eq(setting.flag, flag)
}

/// Where a setting came from, in words.
fn source(setting: &Setting) -> String {
    if setting.is_unset() { "unset".to_owned() } else { setting.source.to_string() }
}
