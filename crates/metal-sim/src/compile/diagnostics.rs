//! What is wrong with a source, as values: clang's messages read, and our own.

use std::fmt;

use crate::Place;
use crate::source::{FIRST_LINE, TABLES};

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Apple's compiler would, as far as is known, refuse the source.
    Error,
    /// The source compiles.
    Warning,
}

/// Something further about a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub place: Place,
    /// What.
    pub text: String,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How grave.
    pub severity: Severity,
    /// Where, if anywhere.
    pub place: Option<Place>,
    /// What.
    pub text: String,
    /// More about it.
    pub notes: Vec<Note>,
}

impl Diagnostic {
    pub(crate) fn error(place: Place, text: String) -> Self {
        Self { severity: Severity::Error, place: Some(place), text, notes: Vec::new() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(out, "{place}: ")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(out, "{severity}: {}", self.text)?;
        for note in &self.notes {
            write!(out, "\n  {}: note: {}", note.place, note.text)?;
        }
        Ok(())
    }
}

/// Reads clang's messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'r> {
    /// Where the library's own headers lie: a message there is moved to the first of its notes that
    /// is elsewhere.
    pub headers: &'r str,
    /// The kernels, by their lines in the generated tables, from [`FIRST_LINE`] on.
    pub kernels: &'r [Place],
}

impl Reader<'_> {
    pub(crate) fn read(&self, messages: &str) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = Vec::new();
        for line in messages.lines() {
            let Some((place, kind, text)) = split(line) else { continue };
            let place = place.map(|place| self.kernel(place));
            match (kind, place) {
                ("note", Some(place)) => {
                    let Some(last) = found.last_mut() else { continue };
                    last.notes.push(Note { place, text: text.to_owned() });
                }
                ("note", None) => {}
                (kind, place) => {
                    let warning = kind == "warning";
                    let severity = if warning { Severity::Warning } else { Severity::Error };
                    let (text, notes) = (text.to_owned(), Vec::new());
                    found.push(Diagnostic { severity, place, text, notes });
                }
            }
        }
        found.iter_mut().for_each(|diagnostic| self.bring_out(diagnostic));
        found
    }

    /// The kernel that a line of the tables is about.
    fn kernel(&self, place: Place) -> Place {
        if place.file != TABLES {
            return place;
        }
        let number = place.line.checked_sub(FIRST_LINE).map(|number| number as usize);
        number.and_then(|number| self.kernels.get(number)).cloned().unwrap_or(place)
    }

    fn hides(&self, place: &Place) -> bool {
        place.file.starts_with(self.headers) || place.file == TABLES
    }

    fn bring_out(&self, diagnostic: &mut Diagnostic) {
        let hidden = diagnostic.place.as_ref().is_some_and(|place| self.hides(place));
        if hidden && let Some(at) = diagnostic.notes.iter().position(|n| !self.hides(&n.place)) {
            let note = diagnostic.notes.remove(at);
            diagnostic.place = Some(note.place);
        }
        diagnostic.notes.retain(|note| !self.hides(&note.place));
    }
}

/// Place, kind and text of one line of clang's.
fn split(line: &str) -> Option<(Option<Place>, &str, &str)> {
    let kinds = ["fatal error", "error", "warning", "note"];
    let (at, kind) = kinds
        .iter()
        .filter_map(|kind| Some((line.find(&format!("{kind}: "))?, *kind)))
        // "fatal error: " holds "error: "; the earlier one is the whole.
        .min_by_key(|(at, _)| *at)?;
    let (place, text) = (&line[..at], &line[at + kind.len() + 2..]);
    if place.is_empty() || place == "clang: " || place.starts_with("clang++") {
        return Some((None, kind, text));
    }
    let mut parts = place.strip_suffix(": ")?.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    let file = parts.next()?.to_owned();
    Some((Some(Place { file, line, column }), kind, text))
}

#[cfg(test)]
#[path = "diagnostics_tests.rs"]
mod tests;
