//! What new devices are like, and what they remember of their runs.

use crate::{Compiler, Mode, Outcome, Profile, Watch};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How devices made from now on behave.
#[derive(Clone)]
pub struct Settings {
    /// The GPU whose name and limits they have.
    pub profile: Profile,
    /// Whether kernels are compiled with checks.
    pub mode: Mode,
    /// What checked kernels are watched for.
    pub watch: Watch,
    /// The compiler; none finds clang at the first library.
    pub compiler: Option<Compiler>,
    /// Threads that run threadgroups.
    pub workers: usize,
    /// Order of the lanes; 0 is their own.
    pub seed: u64,
    /// Whether new private buffers are full of NaN, and reads of bytes nobody wrote are reported.
    pub poison: bool,
    /// Processor time of a threadgroup before it counts as hanging.
    pub patience: Duration,
    /// How long a command buffer waits for an event before it fails.
    pub timeout: Duration,
    /// A barrier between launches that has no effect.
    pub omission: Option<Arc<Omission>>,
    /// Whether traces may be written to documents.
    pub capture: bool,
    /// Whether [`take_outcomes`] gets what each run found and moved.
    pub record: bool,
}

impl Default for Settings {
    /// A checked M1 on one thread; traces as `METAL_CAPTURE_ENABLED` has it.
    fn default() -> Self {
        Self {
            profile: Profile::M1,
            mode: Mode::Checked,
            watch: Watch::Mistakes,
            compiler: None,
            workers: 1,
            seed: 0,
            poison: true,
            patience: Duration::from_secs(60),
            timeout: Duration::from_secs(10),
            omission: None,
            capture: std::env::var_os("METAL_CAPTURE_ENABLED").is_some_and(|value| value == "1"),
            record: false,
        }
    }
}

/// A barrier to leave out, to see whether anything needs it: of those that encoders set, the one
/// of this number.
#[derive(Debug)]
pub struct Omission {
    /// Its number, from zero.
    pub barrier: usize,
    /// Barriers that were set so far.
    pub set: AtomicUsize,
    /// The kernels before and behind it, once it was left out.
    pub between: OnceLock<[String; 2]>,
}

impl Omission {
    /// Of this barrier.
    #[must_use]
    pub fn new(barrier: usize) -> Arc<Self> {
        Arc::new(Self { barrier, set: AtomicUsize::new(0), between: OnceLock::new() })
    }

    /// Counts a barrier between two kernels; whether it is the one.
    pub(super) fn strikes(&self, before: &str, behind: &str) -> bool {
        let strikes = self.set.fetch_add(1, Ordering::Relaxed) == self.barrier;
        if strikes {
            self.between.get_or_init(|| [before.to_owned(), behind.to_owned()]);
        }
        strikes
    }
}

static SETTINGS: LazyLock<Mutex<Settings>> = LazyLock::new(Mutex::default);
static OUTCOMES: Mutex<Vec<Outcome>> = Mutex::new(Vec::new());

/// Gives devices made from now on these settings.
pub fn configure(settings: Settings) {
    *SETTINGS.lock().unwrap_or_else(PoisonError::into_inner) = settings;
}

/// The outcomes of all encoders that ran since the last call, where [`Settings::record`] is set.
pub fn take_outcomes() -> Vec<Outcome> {
    std::mem::take(&mut *OUTCOMES.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(super) fn current() -> Settings {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(super) fn remember(outcome: Outcome) {
    OUTCOMES.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
}
