#![expect(unsafe_code, reason = "memory maps, and a signal handler for maps that lose their file")]
//! Read-only memory maps that survive the loss of their file.
//!
//! When a mapped file is truncated, or its disk fails, the next touch of a lost page raises SIGBUS,
//! which ends the process. The first [`Mapping`] of a process therefore installs a handler, the
//! only process-wide state of this project. On a fault inside a registered mapping it sets that
//! mapping's flag, then puts zero pages from the faulting page to the end of the mapping, and
//! returns: the interrupted read continues and sees zeros. (To the end, because page by page a
//! scattered reader would run into the kernel's limit on the number of maps.) Any other SIGBUS goes
//! to the handler that was there before. Whoever computes from a mapping asks
//! [`Mapping::faulted`] before trusting the result: the flag is set before a zero can be read.
//!
//! The handler calls only atomics, `mmap`, `sigaction` and `raise`, which are async-signal-safe.
//! Registrations are nodes of a list that only grows; a dropped mapping leaves its node for re-use,
//! so the list is as long as the largest number of mappings that lived at once.
//!
//! Not guarded: another process that *writes* to the file. The bytes then change under a shared
//! slice; every value read from a mapping is checked where it is used, not once and for all.

use std::fs;
use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

use memmap2::{Advice, Mmap, UncheckedAdvice};

/// A whole file, mapped read-only.
#[derive(Debug)]
pub(crate) struct Mapping {
    mmap: Mmap,
    slot: &'static Slot,
}

impl Mapping {
    /// Maps all of `file`, whose length must not be 0.
    pub(crate) fn new(file: &fs::File) -> io::Result<Self> {
        install_handler()?;
        // SAFETY: the map is read-only; truncation is handled above, writes by others documented.
        let mmap = unsafe { Mmap::map(file)? };
        let slot = Slot::register(mmap.as_ptr() as usize, mmap.len());
        Ok(Self { mmap, slot })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.mmap
    }

    /// Whether a page of the mapping was lost: from then on reads may have given zeros.
    pub(crate) fn faulted(&self) -> bool {
        self.slot.faulted.load(SeqCst)
    }

    /// Keeps all pages in memory.
    pub(crate) fn lock(&self) -> io::Result<()> {
        self.mmap.lock()
    }

    /// Asks the system to read the pages of a range ahead of use.
    pub(crate) fn prefetch(&self, range: Range<usize>) -> io::Result<()> {
        match clamp(range, self.mmap.len()) {
            Some(range) => self.mmap.advise_range(Advice::WillNeed, range.start, range.len()),
            None => Ok(()),
        }
    }

    /// Gives back the memory of the whole pages inside a range; a later read fetches them again
    /// from the file.
    pub(crate) fn release(&self, range: Range<usize>) -> io::Result<()> {
        let page = page_bytes();
        let end =
            if range.end >= self.mmap.len() { self.mmap.len() } else { range.end & !(page - 1) };
        let start = range.start.checked_next_multiple_of(page).unwrap_or(usize::MAX);
        let Some(range) = clamp(start..end, self.mmap.len()) else { return Ok(()) };
        // SAFETY: pages of a shared read-only file map are refilled from the file with equal bytes.
        unsafe {
            self.mmap.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len())
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // Before the unmap, so that a new map at this address is not taken for this one.
        self.slot.start.store(0, SeqCst);
        self.slot.used.store(false, SeqCst);
    }
}

fn clamp(range: Range<usize>, len: usize) -> Option<Range<usize>> {
    let end = range.end.min(len);
    (range.start < end).then_some(range.start..end)
}

/// A registered mapping: `start` is 0 while the slot is free. `len` is written before `start`.
#[derive(Debug)]
struct Slot {
    start: AtomicUsize,
    len: AtomicUsize,
    faulted: AtomicBool,
    used: AtomicBool,
    next: Option<&'static Slot>,
}

/// Newest slot; the list grows at this end and never shrinks.
static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());

/// What handled SIGBUS before this module did.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// Size of a page, written before the handler is installed.
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);

fn page_bytes() -> usize {
    PAGE_BYTES.load(SeqCst)
}

impl Slot {
    /// The newest slot.
    fn head() -> (*mut Self, Option<&'static Self>) {
        let head = SLOTS.load(SeqCst);
        // SAFETY: the pointer is null or a leaked, never freed slot, changed through atomics only.
        (head, unsafe { head.as_ref() })
    }

    fn all() -> impl Iterator<Item = &'static Self> {
        std::iter::successors(Self::head().1, |slot| slot.next)
    }

    fn register(start: usize, len: usize) -> &'static Self {
        let free = Self::all()
            .find(|slot| slot.used.compare_exchange(false, true, SeqCst, SeqCst).is_ok());
        let slot = free.unwrap_or_else(Self::append);
        slot.faulted.store(false, SeqCst);
        slot.len.store(len, SeqCst);
        slot.start.store(start, SeqCst);
        slot
    }

    /// A new slot in use, without a range yet.
    fn append() -> &'static Self {
        let mut slot = Box::new(Self {
            start: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
            faulted: AtomicBool::new(false),
            used: AtomicBool::new(true),
            next: None,
        });
        loop {
            let (head, next) = Self::head();
            slot.next = next;
            let new = Box::into_raw(slot);
            if SLOTS.compare_exchange(head, new, SeqCst, SeqCst).is_ok() {
                // SAFETY: the slot is leaked, and changed through atomics only from here on.
                return unsafe { &*new };
            }
            // SAFETY: the exchange failed, so the pointer is still this function's alone.
            slot = unsafe { Box::from_raw(new) };
        }
    }

    /// The end of the mapping, when `address` lies in it. Reads `start` twice: a slot that is
    /// given a new range meanwhile answers no, and the faulting mapping's own slot cannot change.
    fn end_if_inside(&self, address: usize) -> Option<usize> {
        let start = self.start.load(SeqCst);
        let end = start.checked_add(self.len.load(SeqCst))?;
        let stable = start != 0 && self.start.load(SeqCst) == start;
        (stable && (start..end).contains(&address)).then_some(end)
    }
}

/// Installs the handler once a process, and remembers the one before it.
fn install_handler() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let installed = INSTALLED
        .get_or_init(|| install().map_err(|error| error.raw_os_error().unwrap_or(libc::EINVAL)));
    installed.map_err(io::Error::from_raw_os_error)
}

fn install() -> io::Result<()> {
    // SAFETY: sysconf reads a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE_BYTES.store(usize::try_from(page).map_err(|_| io::Error::last_os_error())?, SeqCst);
    // SAFETY: all zeros is a valid sigaction: the default action, no flags, an empty mask.
    let mut previous: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a null new action only reads the present one, into a valid place.
    if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut previous) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_sigbus;
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    PREVIOUS.get_or_init(|| previous);
    // SAFETY: the action is whole, and its handler is async-signal-safe.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

extern "C" fn on_sigbus(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    machine: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo to a handler installed with SA_SIGINFO.
    let fault = unsafe { info.as_ref() };
    // A code above 0 is the kernel's: then the address is that of the fault.
    let address = fault.filter(|fault| fault.si_code > 0).map(|fault| {
        // SAFETY: for a SIGBUS of the kernel the address field is the one in use.
        unsafe { fault.si_addr() as usize }
    });
    if !address.is_some_and(replace_lost_pages) {
        chain(signal, info, machine);
    }
}

/// Puts zero pages from the one of `address` to the end of its mapping. False when the address is
/// in no registered mapping or the system refuses.
fn replace_lost_pages(address: usize) -> bool {
    let found = Slot::all().find_map(|slot| Some((slot, slot.end_if_inside(address)?)));
    let Some((slot, end)) = found else { return false };
    slot.faulted.store(true, SeqCst);
    let page = address & !(page_bytes() - 1);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
    let target = ptr::without_provenance_mut(page);
    // SAFETY: the range is inside a live mapping of this module, which nothing else manages.
    let mapped = unsafe { libc::mmap(target, end - page, libc::PROT_READ, flags, -1, 0) };
    mapped != libc::MAP_FAILED
}

/// Hands a signal that is not ours to the previous handler, or lets it end the process.
fn chain(signal: libc::c_int, info: *mut libc::siginfo_t, machine: *mut libc::c_void) {
    let previous = PREVIOUS.get();
    let action = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
    let takes_info = previous.is_some_and(|previous| previous.sa_flags & libc::SA_SIGINFO != 0);
    if action == libc::SIG_DFL || action == libc::SIG_IGN {
        // SAFETY: SIGBUS is a valid signal and SIG_DFL a valid action.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        // SAFETY: the signal is blocked here, so it is delivered, by default, after the return.
        unsafe { libc::raise(signal) };
    } else if takes_info {
        type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: with SA_SIGINFO the field holds a function of this type.
        let handler: Handler = unsafe { std::mem::transmute(action) };
        handler(signal, info, machine);
    } else {
        // SAFETY: without SA_SIGINFO the field holds a function of this type.
        let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(action) };
        handler(signal);
    }
}
