//! Ends threadgroups that use too much of the processor: what neither ends nor comes to a barrier
//! leaves its fiber in no other way.
//!
//! The thread that waits for a launch looks at its workers now and then. One whose threadgroup is
//! overdue is sent a signal, whose handler has the fiber go on in a function that reports it; see
//! [`super::fault`]. Processor time is what counts, so that a busy machine changes nothing.
#![expect(unsafe_code, reason = "other threads' clocks are read, and signals sent, by handle")]

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Sent to a worker whose threadgroup is overdue. Programs that know nothing of it ignore it.
pub const SIGNAL: c_int = libc::SIGURG;

/// How often workers are looked at, and how often once a threadgroup is overdue: the signal has an
/// effect only while the kernel's own code runs.
const CALM: Duration = Duration::from_millis(100);
const EAGER: Duration = Duration::from_millis(1);

/// Signals after which a fiber is diverted wherever it is in the kernel's code.
pub const GRACE: u32 = 20;

/// What a worker shows of itself.
#[derive(Debug, Default)]
pub struct Pulse {
    /// Threadgroups that it has begun.
    pub begun: AtomicU64,
    /// Signals sent to the one that runs.
    pub overdue: AtomicU32,
}

/// A worker as seen from outside. Its thread lives as long as its jobs' sender.
#[derive(Clone, Debug)]
pub struct Handle {
    pub pulse: Arc<Pulse>,
    pub thread: libc::pthread_t,
}

/// The workers of a launch, being looked at.
pub struct Watchdog {
    watched: Vec<Watched>,
    patience: Duration,
}

struct Watched {
    handle: Handle,
    begun: u64,
    /// The worker's clock when it was first seen with this threadgroup.
    since: Duration,
}

impl Watchdog {
    /// Gives each threadgroup this much time.
    pub fn new(handles: impl Iterator<Item = Handle>, patience: Duration) -> Watchdog {
        let watched = |handle: Handle| {
            let begun = handle.pulse.begun.load(Ordering::Relaxed);
            Watched { since: clock(handle.thread), handle, begun }
        };
        Watchdog { watched: handles.map(watched).collect(), patience }
    }

    /// Looks at all; when to look again.
    pub fn look(&mut self) -> Duration {
        let mut next = CALM.min(self.patience);
        for one in &mut self.watched {
            let (begun, now) =
                (one.handle.pulse.begun.load(Ordering::Relaxed), clock(one.handle.thread));
            if begun != one.begun {
                (one.begun, one.since) = (begun, now);
            } else if now.saturating_sub(one.since) > self.patience {
                one.handle.pulse.overdue.fetch_add(1, Ordering::Relaxed);
                // SAFETY: the thread lives, see `Handle`; its handler ignores what is too late.
                unsafe { libc::pthread_kill(one.handle.thread, SIGNAL) };
                next = EAGER;
            }
        }
        next
    }
}

/// The processor time of a thread.
#[cfg(target_os = "linux")]
fn clock(thread: libc::pthread_t) -> Duration {
    let mut id = 0;
    // SAFETY: the thread lives, see `Handle`.
    if unsafe { libc::pthread_getcpuclockid(thread, &raw mut id) } != 0 {
        return Duration::ZERO;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a clock of the system, and room for what it shows.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Not known: nobody is overdue.
#[cfg(not(target_os = "linux"))]
fn clock(_: libc::pthread_t) -> Duration {
    Duration::ZERO
}
