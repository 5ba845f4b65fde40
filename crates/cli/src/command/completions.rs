//! `minfer completions SHELL` and `minfer man`: both from the table of flags.

use anyhow::Result;
use clap_complete::Shell;

use crate::failure::usage;
use crate::flags::command_line;
use crate::flags::settings::Settings;
use crate::output::{self, Style};

/// Completions for a shell.
///
/// # Errors
/// Standard output fails.
pub fn run(settings: &Settings, _style: Style) -> Result<()> {
    let name = settings.positional("SHELL").first().map(String::as_str).unwrap_or_default();
    let shell: Shell = name.parse().map_err(|_| usage(format!("no completions for {name:?}")))?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line::visible(), "minfer", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// The manual page: the command, and a section for each of its commands.
///
/// # Errors
/// Standard output fails.
pub fn man(_settings: &Settings, _style: Style) -> Result<()> {
    let command = command_line::visible();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands() {
        let full = sub.clone().bin_name(format!("minfer {}", sub.get_name()));
        let man = clap_mangen::Man::new(full);
        page.extend_from_slice(
            format!(".SH MINFER {}\n", sub.get_name().to_uppercase()).as_bytes(),
        );
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    output::print(&String::from_utf8_lossy(&page))
}
