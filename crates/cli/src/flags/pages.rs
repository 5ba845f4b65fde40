//! `docs/generated/flags.md`: the table of flags for readers.

use super::{Kind, Theme, table};
use crate::command::COMMANDS;

/// The page.
pub fn flags() -> String {
    let mut text = String::from(
        "# Flags\n\nA setting has one name: the long flag, in capitals after `MINFER_` the \
         environment variable, and the key of the configuration file \
         (`~/.config/minfer/config.toml`, lines of `key = value`). The command line beats the \
         environment, the environment the file, the file the default. A switch takes true or \
         false, on or off, yes or no, 1 or 0; `--NAME` alone means true, and its opposite is \
         listed with it.\n\n## Commands\n\n| command | |\n|---|---|\n",
    );
    for row in COMMANDS.iter().filter(|row| !row.hidden) {
        text += &format!("| `{}` | {} |\n", row.name, row.about);
    }
    for theme in Theme::ALL {
        text += &format!(
            "\n## {}\n\n| flag | default | what | commands |\n|---|---|---|---|\n",
            theme.title()
        );
        for flag in table::rows().filter(|flag| flag.theme == *theme) {
            let default = match flag.default {
                "" => String::new(),
                value => format!("`{value}`"),
            };
            let verbs: Vec<&str> = COMMANDS
                .iter()
                .filter(|row| flag.applies_to(row.verb))
                .map(|row| row.name)
                .collect();
            let (names, what) = (names(flag), what(flag));
            text += &format!("| {names} | {default} | {what} | {} |\n", verbs.join(" "));
        }
    }
    text
}

/// Every way to write a flag.
fn names(flag: &super::Flag) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(flag.short.map(|letter| format!("`-{letter}`")));
    names.extend(flag.dashed.iter().map(|name| format!("`-{name}`")));
    names.push(match flag.kind {
        Kind::Switch(_) => format!("`--{}`", flag.name),
        _other => format!("`--{} {}`", flag.name, flag.value_name().replace('|', "\\|")),
    });
    names.extend(flag.aliases.iter().map(|name| format!("`--{name}`")));
    if let Kind::Switch(no) = flag.kind {
        names.push(format!("`--{no}`"));
    }
    names.join(" ")
}

fn what(flag: &super::Flag) -> String {
    let mut text = flag.help.to_owned();
    if let Kind::Choice(words) = flag.kind {
        text += &format!(" ({})", words.join(", "));
    }
    if !flag.more.is_empty() {
        text += &format!(". {}", flag.more);
    }
    text.replace('|', "\\|").replace('<', "&lt;")
}
