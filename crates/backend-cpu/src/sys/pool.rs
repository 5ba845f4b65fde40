#![expect(unsafe_code, reason = "lends a launch on the caller's stack to the worker threads")]
//! A pool of threads that spins a little between launches, where it has processors for that, and
//! then sleeps.
//!
//! The caller takes part in the work as worker 0. A launch is open while tasks are left: a worker
//! that sees it enters, takes tasks until there are none, and leaves; one that comes late finds the
//! gate shut and is not waited for, so a busy machine delays a launch by the tasks under way and no
//! more. Nothing is allocated per launch.

use std::any::Any;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a worker spins for the next launch: longer than the gap between two launches of a step.
const SPIN: Duration = Duration::from_micros(40);

/// Gate: workers inside in the low bits, then whether the launch is open, then its number.
const INSIDE: u64 = 0xffff;
const OPEN: u64 = 1 << 16;
const NUMBER: u64 = 1 << 17;

/// Why a launch did not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The caller's limit said so.
    Stopped,
    /// A task panicked, or the work does not hold together: why.
    Failed(String),
}

/// Work on one task: the worker's number and the task's.
type Task<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// One launch, on the caller's stack.
struct Job<'a> {
    task: &'a Task<'a>,
    tasks: usize,
    next: AtomicUsize,
    panic: Mutex<Option<String>>,
}

struct Shared {
    gate: AtomicU64,
    job: AtomicPtr<Job<'static>>,
    asleep: Vec<AtomicBool>,
    /// Workers that have a processor of their own to spin on; the others sleep at once.
    spinning: usize,
    quit: AtomicBool,
}

/// The threads.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// The pool during one step: the threads, and when to stop.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'a> {
    pub(crate) pool: &'a Pool,
    /// Asked by the caller between its tasks.
    pub(crate) stop: &'a dyn Fn() -> bool,
}

impl Pool {
    /// A pool of `threads` workers, the caller among them.
    pub(crate) fn new(threads: usize) -> std::io::Result<Pool> {
        let others = threads.saturating_sub(1).min(INSIDE as usize);
        let shared = Arc::new(Shared {
            gate: AtomicU64::new(0),
            job: AtomicPtr::new(ptr::null_mut()),
            asleep: (0..others).map(|_| AtomicBool::new(false)).collect(),
            spinning: thread::available_parallelism().map_or(1, NonZero::get) - 1,
            quit: AtomicBool::new(false),
        });
        let mut pool = Pool { shared, threads: Vec::with_capacity(others) };
        for worker in 0..others {
            let shared = pool.shared.clone();
            let name = format!("minfer-cpu-{}", worker + 1);
            let run = move || work(&shared, worker);
            pool.threads.push(thread::Builder::new().name(name).spawn(run)?);
        }
        Ok(pool)
    }

    /// Workers, the caller among them.
    pub(crate) fn workers(&self) -> usize {
        self.threads.len() + 1
    }

    fn publish(&self, job: &Job<'_>) {
        let pointer = ptr::from_ref(job).cast::<Job<'static>>().cast_mut();
        self.shared.job.store(pointer, Ordering::Release);
        let number = self.shared.gate.load(Ordering::Relaxed) / NUMBER;
        self.shared.gate.store((number.wrapping_add(1) * NUMBER) | OPEN, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        // No more are woken than there is work for beside the caller.
        for (asleep, thread) in self.shared.asleep.iter().zip(&self.threads).take(job.tasks - 1) {
            if asleep.load(Ordering::Relaxed) && asleep.swap(false, Ordering::Relaxed) {
                thread.thread().unpark();
            }
        }
    }

    /// Shuts the gate and waits for those who are inside.
    fn withdraw(&self) {
        self.shared.gate.fetch_and(!OPEN, Ordering::AcqRel);
        let mut spins = 0_u32;
        while self.shared.gate.load(Ordering::Acquire) & INSIDE != 0 {
            spins += 1;
            if spins.is_multiple_of(256) {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A worker catches what its tasks throw, so there is no panic to pass on.
            let _ = thread.join();
        }
    }
}

impl Workers<'_> {
    /// Runs `task(worker, index)` for each index below `tasks`, each once, on any worker.
    pub(crate) fn run(&self, tasks: usize, task: &Task<'_>) -> Result<(), Fault> {
        let job = Job { task, tasks, next: AtomicUsize::new(0), panic: Mutex::new(None) };
        let shared_out = tasks > 1 && self.pool.workers() > 1;
        if shared_out {
            self.pool.publish(&job);
        }
        // Nothing between publish and withdraw may unwind: the workers hold a pointer to `job`.
        let stopped = catch_unwind(AssertUnwindSafe(|| {
            loop {
                if (self.stop)() {
                    job.next.store(tasks, Ordering::Relaxed);
                    return true;
                }
                if !job.step(0) {
                    return false;
                }
            }
        }));
        if shared_out {
            self.pool.withdraw();
        }
        let panic = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (stopped, panic) {
            (_, Some(text)) => Err(Fault::Failed(text)),
            (Err(payload), None) => Err(Fault::Failed(text(&*payload))),
            (Ok(true), None) => Err(Fault::Stopped),
            (Ok(false), None) => Ok(()),
        }
    }
}

impl Job<'_> {
    /// Takes one task; false when none is left. A panic takes all that are left away.
    fn step(&self, worker: usize) -> bool {
        if self.next.load(Ordering::Relaxed) >= self.tasks {
            return false;
        }
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= self.tasks {
            return false;
        }
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.task)(worker, index))) {
            self.next.store(self.tasks, Ordering::Relaxed);
            let mut panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            panic.get_or_insert_with(|| text(&*payload));
        }
        true
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    format!("a kernel panicked: {}", text.unwrap_or_default())
}

/// A worker thread's life.
fn work(shared: &Shared, worker: usize) {
    let mut seen = 0;
    while let Some(state) = next_launch(shared, worker, seen) {
        let enter = shared.gate.compare_exchange_weak(
            state,
            state + 1,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        if enter.is_err() {
            continue;
        }
        seen = state / NUMBER;
        // SAFETY: being counted inside an open gate keeps the caller, and so the job, in place.
        let job = unsafe { &*shared.job.load(Ordering::Acquire) };
        while job.step(worker + 1) {}
        shared.gate.fetch_sub(1, Ordering::Release);
    }
}

/// Waits for an open launch other than `seen`; `None` when the pool ends.
fn next_launch(shared: &Shared, worker: usize, seen: u64) -> Option<u64> {
    let open = || {
        let state = shared.gate.load(Ordering::SeqCst);
        (state & OPEN != 0 && state / NUMBER != seen).then_some(state)
    };
    loop {
        let start = Instant::now();
        let spin = if worker < shared.spinning { SPIN } else { Duration::ZERO };
        while start.elapsed() < spin {
            for _ in 0..32 {
                if let Some(state) = open() {
                    return Some(state);
                }
                std::hint::spin_loop();
            }
        }
        shared.asleep[worker].store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if shared.quit.load(Ordering::SeqCst) {
            return None;
        }
        let state = open();
        if state.is_none() {
            thread::park();
        }
        shared.asleep[worker].store(false, Ordering::SeqCst);
        if state.is_some() {
            return state;
        }
    }
}

#[cfg(test)]
mod tests;
