//! Ctrl-C: the first one ends the answer that is being written, another one, or one when nothing is
//! being written, ends the program.

use std::sync::{Mutex, Once, PoisonError};

use minfer_engine::Canceller;

static RUNNING: Mutex<Option<Canceller>> = Mutex::new(None);
static HANDLER: Once = Once::new();

/// What an interrupt ends while this lives.
#[derive(Debug)]
pub struct Interruptible;

impl Interruptible {
    /// Lets interrupts cancel a sequence.
    pub fn new(canceller: Canceller) -> Interruptible {
        HANDLER.call_once(|| {
            // Without a handler an interrupt ends the program, which is good enough.
            if let Err(error) = ctrlc::set_handler(on_interrupt) {
                tracing::debug!(%error, "no handler for interrupts");
            }
        });
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some(canceller);
        Interruptible
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn on_interrupt() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).take();
    match running {
        Some(canceller) => canceller.cancel(),
        None => std::process::exit(130),
    }
}
