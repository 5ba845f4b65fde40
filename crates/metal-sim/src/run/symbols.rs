//! From findings to reports: addresses become places of the source.
#![expect(unsafe_code, reason = "asks the loader where a library lies")]

use std::ffi::CStr;
use std::mem::MaybeUninit;

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

/// The debug information of a library, and where the library lies.
struct Symbols<'a> {
    kernel: &'a Kernel,
    base: usize,
    loader: Loader,
}

impl Symbols<'_> {
    /// None where the library has no debug information.
    fn of(kernel: &Kernel) -> Option<Symbols<'_>> {
        let (base, _) = object_of(kernel.raw().call as *const () as usize)?;
        let loader = Loader::new(kernel.library().path()).ok()?;
        Some(Symbols { kernel, base, loader })
    }

    /// The innermost place that is the kernel's own, else the innermost of all: what was inlined
    /// from the headers is not where the mistake is.
    fn place(&self, pc: usize) -> Option<Place> {
        let mut frames = self.loader.find_frames(pc.checked_sub(self.base)? as u64).ok()?;
        let own = &self.kernel.place().file;
        let mut innermost = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else { continue };
            let (Some(file), Some(line)) = (location.file, location.line) else { continue };
            let column = location.column.unwrap_or(0);
            if line > 0 && (file == own || file.ends_with(&format!("/{own}"))) {
                return Some(Place { file: own.clone(), line, column });
            }
            if innermost.is_none() {
                innermost = Some(Place { file: file.to_owned(), line, column });
            }
        }
        innermost
    }
}

/// Where the object that contains an address begins, and its file.
pub fn object_of(address: usize) -> Option<(usize, String)> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: asks about an address; any is allowed.
    let found = unsafe { libc::dladdr(address as *const _, info.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: filled in, as the result says.
    let info = unsafe { info.assume_init() };
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a string of the loader.
    let file = unsafe { CStr::from_ptr(info.dli_fname) };
    Some((info.dli_fbase as usize, file.to_string_lossy().into_owned()))
}
