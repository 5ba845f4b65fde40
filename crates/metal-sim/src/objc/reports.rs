//! What was found: misuse of the objects, and how many of them are alive.
//!
//! Apple's debug layer ends the process at most of these; here each is a value, so that a test
//! can say which one it expects. The list is the process's, as the Objective-C runtime is.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Which rule was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Retain, release and autorelease: over-release, use of a released object, no pool.
    Ownership,
    /// A selector that the object does not have.
    Selector,
    /// An argument of the wrong class, out of range, or badly aligned.
    Argument,
    /// An encoder that was not ended, or was used after its end.
    Encoder,
    /// A command buffer that was committed twice, never, or waited for before.
    CommandBuffer,
    /// A dispatch that cannot run: no pipeline, or more than the limits allow.
    Dispatch,
    /// A residency set whose changes were not committed.
    Residency,
}

/// One mistake of the program that uses the objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misuse {
    /// The rule.
    pub rule: Rule,
    /// What was expected, what was found, and what to do.
    pub text: String,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.text)
    }
}

static FOUND: Mutex<Vec<Misuse>> = Mutex::new(Vec::new());

/// Beyond this many the list takes no more: a loop of mistakes must not fill the memory.
const MOST: usize = 10_000;

pub(super) fn report(rule: Rule, text: impl Into<String>) {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.len() < MOST {
        found.push(Misuse { rule, text: text.into() });
    }
}

/// All misuse since the last call, oldest first.
pub fn take_misuse() -> Vec<Misuse> {
    std::mem::take(&mut *FOUND.lock().unwrap_or_else(PoisonError::into_inner))
}
