//! The `minfer` command: the only program here that prints, reads the environment and knows where
//! models are kept.
//!
//! `flags/` is the one table of flags with all that is made from it, `command/` one file per
//! command, `hub/` where models come from. Answers go to standard output, everything else to
//! standard error.
//!
//! It is a library so that the simulator build in `sim/` has the same command with another device.

mod clock;
mod command;
mod failure;
mod flags;
mod hub;
mod interrupt;
mod log;
mod output;
mod synth;

use std::process::ExitCode;

use clap::error::ErrorKind;
use flags::settings::Settings;
use flags::{Verb, command_line, exclusive, table, unused};

/// The whole command, from its arguments to its status.
pub fn main() -> ExitCode {
    clock::SystemClock::start();
    let command_line::Translated { arguments, hints, .. } =
        match command_line::translate(std::env::args_os()) {
            Ok(translated) => translated,
            Err(error) => return failed(&error),
        };
    let command = arguments.get(1).map(|name| name.to_string_lossy().into_owned());
    let command = command.unwrap_or_default();
    let matches = match command_line::build().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let error = command::suggest(error, &command);
            let error = hub::misplaced::explain(error, &command);
            // Help and version are answers; a reader that has gone does not mind.
            let _ = error.print();
            return ExitCode::from(match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => 0,
                _other => 2,
            });
        }
    };
    match dispatch(&matches, hints) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Says why the command failed, and how it ends.
fn failed(error: &anyhow::Error) -> ExitCode {
    match failure::status(error) {
        None => ExitCode::SUCCESS,
        Some(130) => ExitCode::from(130),
        Some(status) => {
            output::note(&format!("error: {error:#}"));
            ExitCode::from(status)
        }
    }
}

fn dispatch(matches: &clap::ArgMatches, hints: Vec<String>) -> anyhow::Result<()> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    let Some(row) = command::COMMANDS.iter().find(|row| row.name == name) else { return Ok(()) };
    let mut settings = Settings::resolve(row.verb, matches)?;
    settings.hints.extend(hints);
    for positional in row.positionals {
        settings.take_positional(positional.name, matches);
    }
    let style = output::Style::of(&settings);
    log::start(&settings, style);
    if row.verb != Verb::Config {
        exclusive::settle(&mut settings)?;
    }
    hub::misplaced::refuse(&mut settings, row.name)?;
    if table::TEMP.applies_to(row.verb) {
        hub::recommend(&mut settings)?;
        unused::warn(&mut settings);
    }
    for fault in &settings.faults {
        output::note(&format!("warning: {fault}"));
    }
    for hint in &settings.hints {
        output::note(&format!("hint: {hint}"));
    }
    (row.run)(&settings, style)
}
