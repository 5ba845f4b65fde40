//! Standard output for answers, standard error for everything else.
//!
//! A closed standard output ends the command normally: a write to it gives [`Closed`], which is no
//! failure. Where both are the same terminal, file or pipe, no line breaks into an answer's: see
//! [`aside`].

use std::io::{self, IsTerminal as _, Write};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, mpsc};
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

/// An answer's line on standard output that has not ended yet, and what waits for its end.
#[derive(Default)]
struct Line {
    open: bool,
    waiting: Vec<u8>,
}

static LINE: Mutex<Line> = Mutex::new(Line { open: false, waiting: Vec::new() });
/// Whether what is written to standard error lands among the answers.
static SHARED: LazyLock<bool> = LazyLock::new(is_shared);

fn line_so_far() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn is_shared() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt as _;
    let place = |stream: &dyn AsFd| {
        let file = std::fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
        let about = file.metadata().ok()?;
        Some((about.dev(), about.ino()))
    };
    let out = place(&io::stdout());
    out.is_some() && out == place(&io::stderr())
}

#[cfg(not(unix))]
fn is_shared() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Writes text to standard output, at once.
///
/// # Errors
/// [`Closed`], or the error of the system.
pub fn print(text: &str) -> Result<()> {
    let mut line = line_so_far();
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(Closed.into()),
        result => result?,
    }
    if !text.is_empty() {
        line.open = !text.ends_with('\n');
    }
    if !line.open {
        // When standard error is gone nobody is left to tell.
        let _ = io::stderr().write_all(&std::mem::take(&mut line.waiting));
    }
    Ok(())
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

/// Writes a line to standard error; when that is gone nobody is left to tell. A line of the answer
/// that is open in the same place ends before it.
pub fn note(text: &str) {
    let mut line = line_so_far();
    let end = if line.open && *SHARED { "\n" } else { "" };
    line.open &= !*SHARED;
    let waiting = std::mem::take(&mut line.waiting);
    let mut err = io::stderr().lock();
    let _ = write!(err, "{end}")
        .and_then(|()| err.write_all(&waiting))
        .and_then(|()| writeln!(err, "{text}"));
}

/// Writes whole lines to standard error; those that would break into an open line of the answer
/// wait for its end.
pub fn aside(lines: &[u8]) {
    let mut line = line_so_far();
    if line.open && *SHARED {
        line.waiting.extend_from_slice(lines);
    } else {
        let _ = io::stderr().write_all(lines);
    }
}

/// A number with seven significant digits, as JSON shows what was measured or computed in single
/// precision: what follows is noise.
pub fn rounded(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    format!("{number:.6e}").parse().unwrap_or(number)
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
        let template = "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} \
                        {decimal_bytes_per_sec} {eta}";
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
