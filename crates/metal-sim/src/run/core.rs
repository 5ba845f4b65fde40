//! A core of the simulated GPU: what one system thread needs to run a threadgroup at a time.
//!
//! All of it is behind `Cell`s and shared references, since every fiber of the threadgroup and the
//! scheduler look at it in turn; it never leaves its system thread. What is hot has no path that
//! could panic: a panic could not unwind through the kernel's frames.
#![expect(
    unsafe_code,
    reason = "the simdgroup's slots and the arguments are shared with the kernel"
)]

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_char;
use std::io;
use std::ptr;
use std::sync::Arc;

use super::arena::Arena;
use super::checks::Checks;
use super::dispatch::Dispatch;
use super::fault::Fault;
use super::fiber::{self, Stacks};
use super::watchdog::Pulse;
use crate::abi;

/// Threads of a threadgroup, at most.
pub const THREADS: usize = 1024;
/// Simdgroups of a threadgroup, at most.
pub const SIMDGROUPS: usize = THREADS / abi::LANES;

/// Where a thread waits. Few wide fields: they are written and compared at every collective.
#[derive(Clone, Copy)]
pub struct Wait {
    file: *const c_char,
    /// Line and column.
    place: u64,
    /// Kind of rendezvous and `mem_flags`.
    what: u64,
}

impl Wait {
    /// Nowhere.
    pub const NONE: Wait = Wait { file: ptr::null(), place: 0, what: 0 };

    /// At a call of this kind, of [`abi::rendezvous`].
    #[inline(always)]
    pub fn new(kind: u32, flags: u32, site: abi::Site) -> Wait {
        let place = u64::from(site.line) << 32 | u64::from(site.column);
        Wait { file: site.file, place, what: u64::from(kind) << 32 | u64::from(flags) }
    }

    /// Whether both are the same call. Lines and columns of two files rarely agree, and two calls
    /// of one kind even less, so that names of files are not compared.
    #[inline(always)]
    pub fn same(self, other: Wait) -> bool {
        self.place == other.place && self.what == other.what
    }

    /// Of [`abi::rendezvous`].
    #[inline(always)]
    pub fn kind(self) -> u32 {
        (self.what >> 32) as u32
    }

    /// Of `mem_flags`.
    #[inline(always)]
    pub fn flags(self) -> u32 {
        self.what as u32
    }

    /// The call.
    pub fn site(self) -> abi::Site {
        abi::Site { file: self.file, line: (self.place >> 32) as u32, column: self.place as u32 }
    }
}

/// Where a `Wait` is kept, field by field: what was stored in two words and is read as one just
/// after waits until it is in the cache, which would double the cost of a collective.
pub struct Place {
    file: Cell<*const c_char>,
    place: Cell<u64>,
    what: Cell<u64>,
}

impl Place {
    /// Nowhere.
    const fn new() -> Place {
        Place { file: Cell::new(ptr::null()), place: Cell::new(0), what: Cell::new(0) }
    }

    /// Keeps another.
    #[inline(always)]
    pub fn set(&self, wait: Wait) {
        self.file.set(wait.file);
        self.place.set(wait.place);
        self.what.set(wait.what);
    }

    /// What is kept.
    #[inline(always)]
    pub fn get(&self) -> Wait {
        Wait { file: self.file.get(), place: self.place.get(), what: self.what.get() }
    }
}

/// One thread of the running threadgroup.
pub struct Thread {
    /// Its stack pointer while it is parked.
    pub stack: Cell<*mut u8>,
    /// Where it waits, or waited last.
    pub wait: Place,
    /// A digest of what it passed as uniform arguments.
    pub uniform: Cell<u64>,
    /// Its place in the order of its simdgroup's lanes.
    pub turn: Cell<u32>,
    /// Has returned.
    pub returned: Cell<bool>,
}

/// The runtime's side of a simdgroup. Sets of lanes are bits by turn, not by lane.
pub struct Simdgroup {
    /// The lane of each turn.
    pub order: [Cell<u8>; abi::LANES],
    /// Can go on.
    pub ready: Cell<u32>,
    /// Wait at a collective, and how many they are.
    pub gathered: Cell<u32>,
    pub arrived: Cell<u32>,
    /// Wait at a threadgroup barrier.
    pub stopped: Cell<u32>,
    /// Lanes that have not returned.
    pub alive: Cell<u32>,
    /// Lanes that it began with, by lane.
    pub full: Cell<u32>,
    /// The collective that lanes wait at.
    pub wait: Place,
    /// The digest of the first to come.
    pub uniform: Cell<u64>,
    /// Barriers passed, by memory: device, threadgroup.
    pub epochs: [Cell<u32>; 2],
}

/// A core; see above.
pub struct Core {
    /// The scheduler's stack pointer while a fiber runs.
    pub scheduler: Cell<*mut u8>,
    /// The running thread, an index below [`THREADS`].
    pub current: Cell<usize>,
    /// A fiber runs, not the scheduler.
    pub inside: Cell<bool>,
    pub threads: Box<[Thread; THREADS]>,
    pub simdgroups: Box<[Simdgroup; SIMDGROUPS]>,
    arguments: Box<UnsafeCell<abi::Arguments>>,
    pub stacks: Stacks,
    pub arena: Arena,
    /// What it runs.
    pub dispatch: Cell<*const Dispatch>,
    /// Threads of the threadgroup, and those that have not returned.
    pub count: Cell<u32>,
    pub alive: Cell<u32>,
    /// Threads at a threadgroup barrier, and which barrier it is.
    pub waiting: Cell<u32>,
    pub barrier: Place,
    /// The thread that came to it first.
    pub barrier_first: Cell<usize>,
    /// Threadgroup barriers passed, by memory: device, threadgroup.
    pub epochs: [Cell<u32>; 2],
    /// Threadgroup barriers that this core has seen passed.
    pub passed: Cell<u64>,
    /// The threadgroup's number in the grid, its position, its size.
    pub serial: Cell<u32>,
    pub position: Cell<[u32; 3]>,
    pub size: Cell<[u32; 3]>,
    /// The launch is over.
    pub killed: Cell<bool>,
    /// Rendezvous and accesses left before the threadgroup counts as hanging.
    pub steps: Cell<u64>,
    /// The misaligned address that was reported last.
    pub misaligned: Cell<usize>,
    /// The fault that is being reported.
    pub fault: Cell<Fault>,
    /// What watches accesses; taken out while it works.
    pub checks: Cell<Option<Box<Checks>>>,
    /// What the watchdog sees.
    pub pulse: Arc<Pulse>,
}

impl Core {
    /// A core with room for the largest threadgroup.
    pub fn new(pulse: Arc<Pulse>) -> io::Result<Core> {
        Ok(Core {
            scheduler: Cell::new(ptr::null_mut()),
            current: Cell::new(0),
            inside: Cell::new(false),
            threads: Box::new([const { Thread::new() }; THREADS]),
            simdgroups: Box::new([const { Simdgroup::new() }; SIMDGROUPS]),
            arguments: zeroed(),
            stacks: Stacks::new(SIMDGROUPS * size_of::<abi::Simdgroup>())?,
            arena: Arena::new()?,
            dispatch: Cell::new(ptr::null()),
            count: Cell::new(0),
            alive: Cell::new(0),
            waiting: Cell::new(0),
            barrier: Place::new(),
            barrier_first: Cell::new(0),
            epochs: [const { Cell::new(0) }; 2],
            passed: Cell::new(0),
            serial: Cell::new(0),
            position: Cell::new([0; 3]),
            size: Cell::new([0; 3]),
            killed: Cell::new(false),
            steps: Cell::new(0),
            misaligned: Cell::new(0),
            fault: Cell::new(Fault::NONE),
            checks: Cell::new(None),
            pulse,
        })
    }

    /// What it runs; none between launches.
    pub fn dispatch(&self) -> Option<&Dispatch> {
        // SAFETY: whoever sets it keeps it alive until it is set to null again.
        unsafe { self.dispatch.get().as_ref() }
    }

    /// A thread by its index; an index past the end counts round.
    #[inline(always)]
    pub fn thread(&self, index: usize) -> &Thread {
        &self.threads[index % THREADS]
    }

    /// The simdgroup of a thread.
    #[inline(always)]
    pub fn simdgroup_of(&self, thread: usize) -> &Simdgroup {
        &self.simdgroups[thread / abi::LANES % SIMDGROUPS]
    }

    /// The kernel's side of a simdgroup.
    #[inline(always)]
    pub fn shared(&self, simdgroup: usize) -> *mut abi::Simdgroup {
        self.stacks.behind().cast::<abi::Simdgroup>().wrapping_add(simdgroup % SIMDGROUPS)
    }

    /// Rendezvous of a simdgroup so far, with others or alone.
    pub fn sequence(&self, simdgroup: usize) -> u64 {
        // SAFETY: only this system thread touches it, and no reference to it lives elsewhere now.
        let alone = unsafe { (*self.shared(simdgroup)).sequence };
        alone.wrapping_add(self.passed.get())
    }

    /// What the kernel is called with.
    pub fn arguments(&self) -> *mut abi::Arguments {
        self.arguments.get()
    }

    /// Position of a thread in its threadgroup.
    pub fn position_of(&self, thread: usize) -> [u32; 3] {
        let [x, y, _] = self.size.get().map(|side| side.max(1));
        let thread = thread as u32;
        [thread % x, thread / x % y, thread / x / y]
    }

    /// Parks the running thread; goes on with the next ready lane of its simdgroup, else with the
    /// scheduler.
    #[inline(always)]
    pub fn park(&self, thread: usize) {
        let target = self.next(thread);
        // SAFETY: the target was parked by this function, is fresh, or is the scheduler.
        unsafe { fiber::switch(self.thread(thread).stack.as_ptr(), target) };
    }

    /// Leaves the running fiber for good.
    pub fn leave(&self, target: *mut u8) -> ! {
        let mut unused = ptr::null_mut();
        // SAFETY: as in `park`; the saved pointer is dropped, so nothing comes back.
        unsafe { fiber::switch(&raw mut unused, target) };
        std::process::abort()
    }

    /// Whom to go on with when this thread stops.
    #[inline(always)]
    pub fn next(&self, thread: usize) -> *mut u8 {
        let simdgroup = self.simdgroup_of(thread);
        let ready = simdgroup.ready.get();
        if ready == 0 {
            self.inside.set(false);
            return self.scheduler.get();
        }
        let after = self.thread(thread).turn.get().wrapping_add(1);
        let turn = after.wrapping_add(ready.rotate_right(after % 32).trailing_zeros()) % 32;
        simdgroup.ready.set(ready & !(1 << turn));
        let lane = usize::from(simdgroup.order[turn as usize % abi::LANES].get());
        let next = thread / abi::LANES * abi::LANES + lane;
        self.current.set(next);
        fiber::expect(self.thread(next + 1).stack.get());
        self.thread(next).stack.get()
    }

    /// Ends the launch from inside a fiber.
    pub fn kill(&self) -> ! {
        self.killed.set(true);
        self.inside.set(false);
        self.leave(self.scheduler.get())
    }
}

impl Thread {
    const fn new() -> Thread {
        Thread {
            stack: Cell::new(ptr::null_mut()),
            wait: Place::new(),
            uniform: Cell::new(0),
            turn: Cell::new(0),
            returned: Cell::new(false),
        }
    }
}

impl Simdgroup {
    const fn new() -> Simdgroup {
        Simdgroup {
            order: [const { Cell::new(0) }; abi::LANES],
            ready: Cell::new(0),
            gathered: Cell::new(0),
            arrived: Cell::new(0),
            stopped: Cell::new(0),
            alive: Cell::new(0),
            full: Cell::new(0),
            wait: Place::new(),
            uniform: Cell::new(0),
            epochs: [const { Cell::new(0) }; 2],
        }
    }
}

/// A value of the interface with all its numbers zero and all its pointers null.
fn zeroed<T>() -> Box<UnsafeCell<T>>
where
    T: Plain,
{
    // SAFETY: `Plain` types may be all zeros.
    unsafe { Box::new_zeroed().assume_init() }
}

/// Types of the interface that may be all zeros.
trait Plain {}
impl Plain for abi::Arguments {}
