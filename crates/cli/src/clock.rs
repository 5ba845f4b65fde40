//! Time: the clock that engines are handed, and the time of day for templates.

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use minfer_chat::Now;
use minfer_engine::Clock;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The system's monotonic clock, from the start of the process.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl SystemClock {
    /// Starts counting; the first thing that the process does.
    pub fn start() {
        LazyLock::force(&START);
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        START.elapsed()
    }
}

/// The time of day in UTC: the standard library does not know the local zone.
pub fn time_of_day() -> Now {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now { unix_seconds: since.as_secs().try_into().unwrap_or(i64::MAX), utc_offset_seconds: 0 }
}
