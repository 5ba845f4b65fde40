//! Standard output for answers, standard error for everything else.
//!
//! A closed standard output ends the command normally: a write to it gives [`Closed`], which is no
//! failure.

use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::failure::Closed;
use crate::flags::settings::{Settings, variable};
use crate::flags::table;

/// Time before progress is shown, and between its movements.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(200);

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
        self.progress(None, "{spinner} {msg} {elapsed}", message.to_owned())
    }

    /// A bar over bytes that shows after a second.
    pub fn bytes(self, message: String, total: u64) -> Progress {
        let template = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        self.progress(Some(total), template, message)
    }

    /// A bar over steps that shows after a second.
    pub fn steps(self, message: &'static str, total: u64) -> Progress {
        self.progress(Some(total), "{msg} {wide_bar} {pos}/{len} {eta}", message.to_owned())
    }

    fn progress(self, total: Option<u64>, template: &str, message: String) -> Progress {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(message);
        let waiting = self.progress.then(|| Waiting::new(bar.clone()));
        Progress { bar, _waiting: waiting }
    }
}

/// Progress of something that may take over a second; gone when it is dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    _waiting: Option<Waiting>,
}

impl Progress {
    /// Says how far it is.
    pub fn at(&self, position: u64) {
        self.bar.set_position(position);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A thread that shows a bar once a second has passed; it ends when this is dropped.
#[derive(Debug)]
struct Waiting {
    end: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Waiting {
    fn new(bar: ProgressBar) -> Waiting {
        let (end, ended) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            let mut wait = SHOWN_AFTER;
            while ended.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
                if wait == SHOWN_AFTER {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    wait = TICK;
                }
                bar.tick();
            }
            bar.finish_and_clear();
        });
        Waiting { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // A thread that draws has nothing to report.
            let _ = thread.join();
        }
    }
}
