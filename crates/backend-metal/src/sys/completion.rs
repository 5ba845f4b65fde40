//! How a committed command buffer ends, told from Metal's own thread.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Set once, when the command buffer has ended: the GPU's time for it, or the device's words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completion(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    ended: Mutex<Option<Result<Duration, String>>>,
    changed: Condvar,
}

impl Completion {
    /// Notes the end.
    pub(super) fn end(&self, result: Result<Duration, String>) {
        *self.0.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.0.changed.notify_all();
    }

    /// The end, if it comes within `time`.
    pub(crate) fn wait(&self, time: Duration) -> Option<Result<Duration, String>> {
        let ended = self.0.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = |ended: &mut Option<_>| ended.is_none();
        let waited = self.0.changed.wait_timeout_while(ended, time, waiting);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}
