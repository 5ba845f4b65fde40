//! The lines of a conversation: with an editor at a terminal, as they come from anywhere else.
//!
//! At a terminal that can move its cursor a line is edited and earlier ones come back with the
//! arrow keys; an interrupt there gives up the line, not the program.

use std::fs::OpenOptions;
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::io::{stderr, stdin, stdout};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Behavior, Config, Editor};

use super::prompt;
use crate::flags::settings::{Settings, variable};
use crate::flags::table;
use crate::interrupt::Interruptible;
use crate::output::{self, Style};

/// Longest line.
const LINE_MAX: u64 = 1 << 20;
/// Lines that the arrow keys bring back.
const HISTORY_MAX: usize = 1000;

/// What came.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// A line, with those that a backslash joins to it.
    Text(String),
    /// One that cannot be taken, and why.
    Refused(String),
    /// The user interrupted the line.
    Interrupted,
    /// The end of input.
    End,
}

/// Where lines come from.
pub struct Lines {
    editor: Option<Editor<(), MemHistory>>,
    /// Whether someone types them.
    pub interactive: bool,
    history: Option<PathBuf>,
    style: Style,
}

impl Lines {
    /// From standard input.
    ///
    /// # Errors
    /// No editor for this terminal, or a file of earlier lines that cannot be read.
    pub fn new(settings: &Settings, style: Style) -> Result<Lines> {
        let interactive = stdin().is_terminal();
        let moves = variable("TERM").as_deref() != Some("dumb");
        let editor = if interactive && moves { Some(editor()?) } else { None };
        let history = settings.path(&table::HISTORY).filter(|_| editor.is_some());
        let mut lines = Lines { editor, interactive, history, style };
        if let (Some(editor), Some(path)) = (&mut lines.editor, &lines.history)
            && path.exists()
        {
            for line in prompt::read_file(path)?.lines() {
                editor.add_history_entry(line)?;
            }
        }
        Ok(lines)
    }

    /// The next line, with those that a backslash joins to it.
    ///
    /// # Errors
    /// Standard input fails.
    pub fn next(&mut self) -> Result<Line> {
        let mut text = String::new();
        loop {
            let mark = if text.is_empty() { "> " } else { "… " };
            let line = match self.one(mark)? {
                Line::Text(line) => line,
                Line::End if !text.is_empty() => return Ok(Line::Text(text)),
                other => return Ok(other),
            };
            match line.strip_suffix('\\') {
                Some(begun) => text += &format!("{begun}\n"),
                None => return Ok(Line::Text(text + &line)),
            }
        }
    }

    /// One line without its end.
    fn one(&mut self, mark: &str) -> Result<Line> {
        let _told_and_then_ended = self.interactive.then(Interruptible::prompt);
        let Some(editor) = &mut self.editor else {
            if self.interactive {
                let mut stderr = stderr().lock();
                let _ = write!(stderr, "{}", self.style.bold(mark)).and_then(|()| stderr.flush());
            }
            return read(&mut stdin().lock());
        };
        let line = match editor.readline(&(mark, self.style.bold(mark))) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => return Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => return Ok(Line::End),
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                return Ok(Line::Refused("expected UTF-8 text, found other bytes".into()));
            }
            Err(error) => return Err(error).context("reading from the terminal"),
        };
        // False for the same line once more.
        if !line.trim().is_empty() && editor.add_history_entry(&line)? {
            self.keep(&line);
        }
        Ok(Line::Text(line))
    }

    /// Writes a line to the file of earlier lines. A file that cannot be written is told once and
    /// does not end the conversation.
    fn keep(&mut self, line: &str) {
        let Some(path) = &self.history else { return };
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // What was pasted in several lines is kept as if a backslash had joined them.
        let entry = format!("{}\n", line.replace('\n', "\\\n"));
        let written = options.open(path).and_then(|mut file| file.write_all(entry.as_bytes()));
        if let Err(error) = written {
            let shown = path.display();
            output::note(&format!("warning: --history {shown}: {error}; lines are not kept"));
            self.history = None;
        }
    }
}

fn editor() -> Result<Editor<(), MemHistory>> {
    // Answers may go to a file; what is typed belongs on the terminal.
    let behavior = if stdout().is_terminal() { Behavior::Stdio } else { Behavior::PreferTerm };
    let config = Config::builder().max_history_size(HISTORY_MAX)?.behavior(behavior).build();
    let history = MemHistory::with_config(&config);
    Editor::with_history(config, history).context("opening the terminal")
}

/// One line of a file or a pipe, without its end.
fn read(input: &mut impl std::io::BufRead) -> Result<Line> {
    let mut bytes = Vec::new();
    input.take(LINE_MAX).read_until(b'\n', &mut bytes).context("reading standard input")?;
    if bytes.is_empty() {
        return Ok(Line::End);
    }
    if bytes.len() as u64 == LINE_MAX && !bytes.ends_with(b"\n") {
        input.skip_until(b'\n').context("reading standard input")?;
        let text = format!("expected a line of less than {LINE_MAX} bytes, found a longer one");
        return Ok(Line::Refused(text));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(line) => Line::Text(line.trim_end_matches(['\n', '\r']).to_owned()),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Line::Refused(format!("expected UTF-8 text, found other bytes at offset {at}"))
        }
    })
}

#[cfg(test)]
mod tests;
