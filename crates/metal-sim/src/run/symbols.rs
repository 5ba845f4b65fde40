//! From findings to reports: addresses become places of the source.
#![expect(unsafe_code, reason = "asks the loader where a library lies")]

#[cfg(target_os = "linux")]
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
#[cfg(target_os = "linux")]
use std::slice;

use addr2line::Loader;

use super::log::{Finding, Spot};
use crate::library::Kernel;
use crate::place::Place;
use crate::report::Report;

/// The reports of a launch.
pub fn reports(kernel: &Kernel, findings: Vec<Finding>) -> Vec<Report> {
    let any = findings.iter().any(|finding| matches!(finding.spot, Spot::Instruction(_)));
    let symbols = any.then(|| Symbols::of(kernel)).flatten();
    let report = |finding| {
        let Finding { kind, spot, thread, threadgroup, text } = finding;
        let place = match spot {
            Spot::Kernel => Some(kernel.place().clone()),
            Spot::Place(place) => Some(place),
            Spot::Instruction(pc) => symbols.as_ref().and_then(|symbols| symbols.place(pc)),
        };
        Report { kind, kernel: kernel.name().to_owned(), thread, threadgroup, place, text }
    };
    findings.into_iter().map(report).collect()
}

/// Bytes that a place is looked for before an instruction without one.
const REACH: usize = 64;

/// The debug information of a library, and where the library lies.
struct Symbols<'a> {
    kernel: &'a Kernel,
    base: usize,
    loader: Loader,
}

impl Symbols<'_> {
    /// None where the library has no debug information.
    fn of(kernel: &Kernel) -> Option<Symbols<'_>> {
        let base = base_of(kernel.raw().call as *const () as usize)?;
        let loader = Loader::new(kernel.library().path()).ok()?;
        Some(Symbols { kernel, base, loader })
    }

    /// The place of an instruction, or of the nearest before it that has one: what the compiler
    /// merges from several places has none.
    fn place(&self, pc: usize) -> Option<Place> {
        let address = pc.checked_sub(self.base)?;
        (0..REACH).find_map(|back| self.exact(address.checked_sub(back)?))
    }

    /// The innermost place that is the kernel's own, else the innermost of all: what was inlined
    /// from the headers is not where the mistake is.
    fn exact(&self, address: usize) -> Option<Place> {
        let mut frames = self.loader.find_frames(address as u64).ok()?;
        let own = &self.kernel.place().file;
        let mut innermost = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else { continue };
            let (Some(file), Some(line)) = (location.file, location.line) else { continue };
            if line == 0 {
                continue;
            }
            let column = location.column.unwrap_or(0);
            if file == own || file.ends_with(&format!("/{own}")) {
                return Some(Place { file: own.clone(), line, column });
            }
            innermost = innermost.or_else(|| Some(Place { file: file.to_owned(), line, column }));
        }
        innermost
    }
}

/// Where the object that contains an address begins.
pub fn base_of(address: usize) -> Option<usize> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: asks about an address; any is allowed.
    let found = unsafe { libc::dladdr(address as *const _, info.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: filled in, as the result says.
    let info = unsafe { info.assume_init() };
    Some(info.dli_fbase as usize)
}

/// The segments in memory of the object that contains an address; none where the system does not
/// list them.
#[cfg(target_os = "linux")]
pub fn segments(address: usize) -> Vec<Range<usize>> {
    let mut search = Search { address, found: Vec::new() };
    // SAFETY: the callback is only called before this returns, with the search.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

#[cfg(target_os = "linux")]
struct Search {
    address: usize,
    found: Vec<Range<usize>>,
}

/// Called for each object until it finds the one.
#[cfg(target_os = "linux")]
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: what `segments` passed.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: valid while the callback runs.
    let info = unsafe { &*info };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader says how many there are.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let ranges = loaded.map(|header| {
        let start = (info.dlpi_addr + header.p_vaddr) as usize;
        start..start + header.p_memsz as usize
    });
    let ranges: Vec<_> = ranges.collect();
    if ranges.iter().any(|range| range.contains(&search.address)) {
        search.found = ranges;
        return 1;
    }
    0
}

/// None: asked of each address instead.
#[cfg(not(target_os = "linux"))]
pub fn segments(_: usize) -> Vec<Range<usize>> {
    Vec::new()
}
