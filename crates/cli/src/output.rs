//! Standard output for answers, standard error for everything else.
//!
//! A closed standard output ends the command normally: a write to it gives [`Closed`], which is no
//! failure.

use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::failure::Closed;
use crate::flags::settings::{Settings, variable};
use crate::flags::table;

/// Writes text to standard output, at once.
///
/// # Errors
/// [`Closed`], or the error of the system.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Closed.into()),
        result => Ok(result?),
    }
}

/// Writes a line to standard output.
///
/// # Errors
/// As [`print`].
pub fn line(text: &str) -> Result<()> {
    print(&format!("{text}\n"))
}

/// Writes a value to standard output as one line of JSON.
///
/// # Errors
/// As [`print`].
pub fn json(value: &impl Serialize) -> Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Writes a value to standard output as JSON for people.
///
/// # Errors
/// As [`print`].
pub fn pretty_json(value: &impl Serialize) -> Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// Writes a line to standard error; when that is gone nobody is left to tell.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// How standard error may be written to.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether lines may have colours.
    pub color: bool,
    /// Whether progress may be drawn.
    pub progress: bool,
}

impl Style {
    /// As the settings and the terminal have it.
    pub fn of(settings: &Settings) -> Style {
        let terminal = io::stderr().is_terminal();
        let plain = variable("NO_COLOR").is_some() || variable("TERM").as_deref() == Some("dumb");
        let color = match settings.text(&table::COLOR) {
            Some("always") => true,
            Some("never") => false,
            _auto => terminal && !plain,
        };
        Style { color, progress: terminal }
    }

    /// Text that steps back.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Text that steps forward.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A spinner that shows after a second.
    pub fn spinner(self, message: &'static str) -> Progress {
        let bar = self.bar(ProgressBar::new_spinner());
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        bar.set_message(message);
        Progress::start(bar)
    }

    /// A bar over bytes that shows after a second.
    pub fn bytes(self, message: String, total: u64) -> Progress {
        let bar = self.bar(ProgressBar::new(total));
        let template = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        bar.set_style(style(template));
        bar.set_message(message);
        Progress::start(bar)
    }

    /// A bar over steps that shows after a second.
    pub fn steps(self, message: &'static str, total: u64) -> Progress {
        let bar = self.bar(ProgressBar::new(total));
        bar.set_style(style("{msg} {wide_bar} {pos}/{len} {eta}"));
        bar.set_message(message);
        Progress::start(bar)
    }

    fn bar(self, bar: ProgressBar) -> ProgressBar {
        let hidden = if self.progress { None } else { Some(ProgressDrawTarget::hidden()) };
        if let Some(target) = hidden {
            bar.set_draw_target(target);
        }
        bar
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Progress of something that may take over a second; gone when it is dropped.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    fn start(bar: ProgressBar) -> Progress {
        // The first tick, and with it the first drawing, comes after a second.
        bar.enable_steady_tick(Duration::from_secs(1));
        Progress(bar)
    }

    /// Says how far it is.
    pub fn at(&self, position: u64) {
        self.0.set_position(position);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
