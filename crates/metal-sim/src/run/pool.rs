//! System threads that run threadgroups, kept between launches with their stacks.

use std::io;
use std::os::unix::thread::JoinHandleExt as _;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use super::checks::Checks;
use super::core::Core;
use super::dispatch::Dispatch;
use super::watchdog::{Handle, Pulse, Watchdog};
use super::{fault, host, schedule};

/// A part of a launch for one system thread.
struct Job {
    dispatch: Arc<Dispatch>,
    worker: usize,
    checks: Option<Box<Checks>>,
    done: Sender<Option<Box<Checks>>>,
}

/// A system thread that waits for jobs.
struct Worker {
    jobs: Sender<Job>,
    handle: Handle,
}

/// Workers without a job.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Runs a dispatch on this many system threads, the first of which is given the checks. They come
/// back when all threadgroups have ended.
pub fn run(
    dispatch: &Arc<Dispatch>,
    workers: usize,
    mut checks: Option<Box<Checks>>,
) -> io::Result<Option<Box<Checks>>> {
    let mut hired = Vec::new();
    let (done, results) = mpsc::channel();
    for worker in 0..workers.max(1) {
        let hand = hire()?;
        let (dispatch, done) = (Arc::clone(dispatch), done.clone());
        let job = Job { dispatch, worker, checks: checks.take(), done };
        hand.jobs.send(job).map_err(|_| io::Error::other("a worker of the simulator is gone"))?;
        hired.push(hand);
    }
    drop(done);
    let handles = hired.iter().map(|worker| worker.handle.clone());
    let mut watchdog = Watchdog::new(handles, dispatch.patience);
    let mut checks = None;
    let mut pause = watchdog.look();
    loop {
        match results.recv_timeout(pause) {
            Ok(result) => checks = checks.or(result),
            Err(RecvTimeoutError::Timeout) => pause = watchdog.look(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    IDLE.lock().unwrap_or_else(PoisonError::into_inner).append(&mut hired);
    Ok(checks)
}

fn hire() -> io::Result<Worker> {
    if let Some(worker) = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop() {
        return Ok(worker);
    }
    fault::install()?;
    let (jobs, work) = mpsc::channel();
    let (ready, started) = mpsc::channel();
    let thread = std::thread::Builder::new().name("metal-sim".to_owned());
    let pulse = Arc::default();
    let core_pulse = Arc::clone(&pulse);
    let thread = thread.spawn(move || serve(&work, &ready, core_pulse))?;
    let gone = || Err(io::Error::other("a worker of the simulator ended before it began"));
    started.recv().unwrap_or_else(|_| gone())?;
    Ok(Worker { jobs, handle: Handle { pulse, thread: thread.as_pthread_t() } })
}

/// Says whether it can begin, then runs jobs until nobody sends any.
fn serve(work: &Receiver<Job>, ready: &Sender<io::Result<()>>, pulse: Arc<Pulse>) {
    let begun = fault::handler_stack().and_then(|stack| Ok((stack, Core::new(pulse)?)));
    let (_stack, core) = match begun {
        Ok(begun) => begun,
        Err(error) => return ready.send(Err(error)).unwrap_or_default(),
    };
    ready.send(Ok(())).unwrap_or_default();
    host::install(&core);
    for job in work {
        core.checks.set(job.checks);
        schedule::run(&core, &job.dispatch, job.worker);
        drop(job.dispatch);
        // Nobody waits for a launch that failed to start in full.
        job.done.send(core.checks.take()).unwrap_or_default();
    }
    host::install(std::ptr::null());
}
