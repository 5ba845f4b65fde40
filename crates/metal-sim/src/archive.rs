//! Sources in one file: what the simulator has in place of a precompiled library.
//!
//! The file begins with a line of its own; a line with name and length stands before each source.
//! Compiled kernels would be of no use elsewhere, and the cache has them anyway.

use crate::Source;
use std::fmt::Write as _;

/// The first line.
const HEADER: &str = "metal-sim archive";

/// A file that is no archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no archive of metal-sim: at byte {at} expected {expected}, found {found:?}")]
pub struct ArchiveError {
    /// Where it was looked for.
    pub at: usize,
    /// What should stand there.
    pub expected: &'static str,
    /// What stands there.
    pub found: String,
}

/// The sources as one file.
#[must_use]
pub fn pack(sources: &[Source]) -> Vec<u8> {
    let mut text = format!("{HEADER}\n");
    for Source { name, text: source } in sources {
        let _ = writeln!(text, "source {} {name}\n{source}", source.len());
    }
    text.into_bytes()
}

/// The sources of a file.
///
/// # Errors
/// The file is no archive, or a damaged one.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Source>, ArchiveError> {
    let mut at = 0;
    if line(bytes, &mut at) != Some(HEADER.as_bytes()) {
        return Err(unexpected(bytes, 0, "the line \"metal-sim archive\""));
    }
    let mut sources = Vec::new();
    while at < bytes.len() {
        let start = at;
        let head = line(bytes, &mut at).and_then(|line| str::from_utf8(line).ok());
        let (length, name) = head
            .and_then(|head| head.strip_prefix("source ")?.split_once(' '))
            .and_then(|(length, name)| Some((length.parse::<usize>().ok()?, name)))
            .ok_or_else(|| unexpected(bytes, start, "\"source\", a length and a name"))?;
        let end = at.checked_add(length).filter(|end| bytes.get(*end) == Some(&b'\n'));
        let text = end.and_then(|end| str::from_utf8(&bytes[at..end]).ok());
        let text = text.ok_or_else(|| unexpected(bytes, at, "a source of that length"))?;
        sources.push(Source { name: name.to_owned(), text: text.to_owned() });
        at += length + 1;
    }
    Ok(sources)
}

/// The line that begins at `at`, which moves behind it; none where no line ends.
fn line<'b>(bytes: &'b [u8], at: &mut usize) -> Option<&'b [u8]> {
    let rest = &bytes[*at..];
    let length = rest.iter().position(|byte| *byte == b'\n')?;
    *at += length + 1;
    Some(&rest[..length])
}

fn unexpected(bytes: &[u8], at: usize, expected: &'static str) -> ArchiveError {
    let found = &bytes[at..bytes.len().min(at + HEADER.len())];
    ArchiveError { at, expected, found: String::from_utf8_lossy(found).into_owned() }
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
