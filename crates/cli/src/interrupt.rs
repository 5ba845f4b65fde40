//! Ctrl-C: the first one ends the answer that is being written, another one, or one when nothing is
//! being written, ends the program. A file that is half written goes with it.
//!
//! A conversation at a terminal is not lost to one press too many: where nothing is being written
//! the first interrupt tells the way out, and only another one takes it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use minfer_engine::Canceller;

use crate::output;

/// What an interrupt meets.
#[derive(Debug)]
enum Running {
    Sequence(Canceller),
    Partial(PathBuf),
    Prompt { told: bool },
}

#[derive(Debug)]
struct State {
    running: Option<Running>,
    /// Whether there is a conversation to lose.
    conversation: bool,
}

static STATE: Mutex<State> = Mutex::new(State { running: None, conversation: false });
/// How a conversation ends.
pub const WAY_OUT: &str = "/exit, Ctrl-D or another Ctrl-C ends the conversation";
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

    /// The program waits for a line of a conversation. From the first one on, an interrupt that
    /// comes between two things that it could end does nothing.
    pub fn prompt() -> Interruptible {
        let interruptible = Interruptible::start(Running::Prompt { told: false });
        state().conversation = true;
        interruptible
    }

    fn start(running: Running) -> Interruptible {
        HANDLER.call_once(|| {
            // Without a handler an interrupt ends the program, which is good enough.
            if let Err(error) = ctrlc::set_handler(on_interrupt) {
                tracing::debug!(%error, "no handler for interrupts");
            }
        });
        state().running = Some(running);
        Interruptible
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        state().running = None;
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn on_interrupt() {
    let mut state = state();
    match state.running.take() {
        Some(Running::Sequence(canceller)) => canceller.cancel(),
        Some(Running::Partial(path)) => {
            let _ = std::fs::remove_file(path);
            std::process::exit(INTERRUPTED);
        }
        Some(Running::Prompt { told: false }) => {
            output::note(&format!("\n{WAY_OUT}"));
            state.running = Some(Running::Prompt { told: true });
        }
        None if state.conversation => {}
        Some(Running::Prompt { told: true }) | None => std::process::exit(INTERRUPTED),
    }
}
