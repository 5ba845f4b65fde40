//! Time, as the engine is handed it.

use std::time::Duration;

/// A monotonic clock. The command has the system's; tests move theirs by hand.
pub trait Clock: Send + Sync {
    /// Time since the clock's start; never less than an earlier answer.
    fn now(&self) -> Duration;
}

/// A clock that stands still: durations are zero and no deadline passes. The default.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrozenClock;

impl Clock for FrozenClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}
