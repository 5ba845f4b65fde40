//! How the command ends: 0, 1 for a failure, 2 for a command line that is not understood.

use std::fmt;

/// The command line, environment or configuration says something that cannot be.
#[derive(Debug)]
pub struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Whoever read standard output has closed it: a normal end.
#[derive(Debug)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl std::error::Error for Closed {}

/// The user asked for the end.
#[derive(Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// A usage error.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// The exit status that an error stands for; `None` for an end that is none.
pub fn status(error: &anyhow::Error) -> Option<u8> {
    let has = |is: fn(&(dyn std::error::Error + 'static)) -> bool| error.chain().any(is);
    if has(|cause| cause.is::<Closed>()) {
        None
    } else if has(|cause| cause.is::<Interrupted>()) {
        Some(130)
    } else if has(|cause| cause.is::<Usage>()) {
        Some(2)
    } else {
        Some(1)
    }
}
