//! Faults on purpose: what a program must survive and can seldom provoke on a real GPU.
//!
//! A fault strikes once, after as many successes as it was armed with. Faults are the process's:
//! tests that arm them must not run at the same time.

use std::sync::{Condvar, Mutex, PoisonError};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A command buffer ends with an internal error, and nothing of it has run.
    CommandBuffer,
    /// A command buffer does not complete until [`release_hangs`]; it ends with a timeout then.
    Hang,
    /// A new buffer is nil.
    Allocation,
    /// A function of a library is not found.
    MissingKernel,
    /// A command buffer and all later ones of its device fail; a new device works.
    DeviceLost,
}

static ARMED: Mutex<Vec<(Fault, u32)>> = Mutex::new(Vec::new());

/// How often hangs were released, and where those that hang wait for it.
static RELEASED: (Mutex<u64>, Condvar) = (Mutex::new(0), Condvar::new());

/// Has the fault strike once, after `after` successes of its kind.
pub fn arm(fault: Fault, after: u32) {
    ARMED.lock().unwrap_or_else(PoisonError::into_inner).push((fault, after));
}

/// Forgets all faults that have not struck.
pub fn disarm() {
    ARMED.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Ends every hang there is.
pub fn release_hangs() {
    *RELEASED.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    RELEASED.1.notify_all();
}

/// Counts one chance; whether the fault strikes now.
pub(super) fn strikes(fault: Fault) -> bool {
    let mut armed = ARMED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(place) = armed.iter().position(|(kind, _)| *kind == fault) else { return false };
    if armed[place].1 > 0 {
        armed[place].1 -= 1;
        return false;
    }
    armed.remove(place);
    true
}

/// Waits for the next [`release_hangs`].
pub(super) fn hang() {
    let count = RELEASED.0.lock().unwrap_or_else(PoisonError::into_inner);
    let before = *count;
    let wait = RELEASED.1.wait_while(count, |count| *count == before);
    drop(wait.unwrap_or_else(PoisonError::into_inner));
}
