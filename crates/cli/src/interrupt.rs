//! Ctrl-C: the first one ends the answer that is being written, another one, or one when nothing is
//! being written, ends the program. A file that is half written goes with it.

use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};

use minfer_engine::Canceller;

/// What an interrupt meets.
#[derive(Debug)]
enum Running {
    Sequence(Canceller),
    Partial(PathBuf),
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
/// The exit status of a program that SIGINT ended, as shells give it.
const INTERRUPTED: i32 = 130;

static HANDLER: Once = Once::new();

/// What an interrupt ends while this lives.
#[derive(Debug)]
pub struct Interruptible;

impl Interruptible {
    /// Lets interrupts cancel a sequence.
    pub fn new(canceller: Canceller) -> Interruptible {
        Interruptible::start(Running::Sequence(canceller))
    }

    /// Lets interrupts remove a file before they end the program.
    pub fn removing(partial: PathBuf) -> Interruptible {
        Interruptible::start(Running::Partial(partial))
    }

    fn start(running: Running) -> Interruptible {
        HANDLER.call_once(|| {
            // Without a handler an interrupt ends the program, which is good enough.
            if let Err(error) = ctrlc::set_handler(on_interrupt) {
                tracing::debug!(%error, "no handler for interrupts");
            }
        });
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
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
        Some(Running::Sequence(canceller)) => canceller.cancel(),
        Some(Running::Partial(path)) => {
            let _ = std::fs::remove_file(path);
            std::process::exit(INTERRUPTED);
        }
        None => std::process::exit(INTERRUPTED),
    }
}
