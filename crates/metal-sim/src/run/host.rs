//! The functions that kernels call.
//!
//! None may unwind: the frames above are the kernel's. A thread that must not go on leaves its
//! fiber for good, and nothing on that stack waits to be dropped.
#![expect(unsafe_code, reason = "what kernels pass are pointers")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use super::arena::Owner;
use super::core::{Core, Wait};
use super::log::Spot;
use super::{checks, sync};
use crate::abi;
use crate::report::Kind;

thread_local! {
    static CORE: Cell<*const Core> = const { Cell::new(ptr::null()) };
}

/// The table that libraries are given.
pub static HOST: abi::Host =
    abi::Host { sync, uniform, threadgroup_variable, fail, access, undefined };

/// Makes a core the one of this system thread; null takes it away.
pub fn install(core: *const Core) {
    CORE.set(core);
}

/// The core of this system thread.
#[inline(always)]
pub fn core() -> Option<&'static Core> {
    // SAFETY: who installs a core takes it away again before it goes.
    unsafe { CORE.get().as_ref() }
}

/// The core of this system thread while a kernel runs on it.
fn running() -> Option<&'static Core> {
    core().filter(|core| core.inside.get())
}

extern "C" fn sync(kind: u32, flags: u32, site: abi::Site) {
    if let Some(core) = core() {
        sync::arrive(core, Wait::new(kind, flags, site));
    }
}

extern "C" fn uniform(pointer: *const c_void, stride: u64, site: abi::Site) {
    let Some(core) = running() else { return };
    let digest = &core.thread(core.current.get()).uniform;
    let place = u64::from(site.line) << 20 | u64::from(site.column);
    let given = pointer as u64 ^ stride.rotate_left(40) ^ place.rotate_left(20);
    digest.set((digest.get() ^ given).wrapping_mul(0x9e37_79b9_7f4a_7c15));
}

extern "C" fn threadgroup_variable(
    id: u32,
    size: u64,
    align: u64,
    name: *const c_char,
) -> *mut c_void {
    let Some(core) = running() else { return ptr::null_mut() };
    let region = core.arena.region(Owner::Variable(id), size as usize, align as usize, name);
    let limit = core.dispatch().map_or(0, |dispatch| dispatch.profile.threadgroup_memory);
    let filled = core.arena.filled();
    match region {
        Some(region) if filled <= limit as usize => {
            core.arena.start().wrapping_add(region.offset).cast()
        }
        Some(_) => {
            let text = format!("{filled} bytes of threadgroup memory; the GPU has {limit}");
            core.fail(Kind::Limits, Spot::Kernel, text)
        }
        None => {
            let text =
                format!("a threadgroup variable of {size} bytes; the GPU has {limit} in all");
            core.fail(Kind::Limits, Spot::Kernel, text)
        }
    }
}

extern "C" fn fail(what: *const c_char, site: abi::Site) {
    if let Some(core) = running() {
        let what = text_of(what);
        let what = what.trim_start_matches("inactive lane: ").to_owned();
        core.fail(Kind::InactiveLane, Spot::of(site), what);
    }
}

extern "C" fn access(address: u64, size: u64, bits: u32, pc: u64) {
    if let Some(core) = running() {
        checks::access(core, address as usize, size as usize, bits, pc);
    }
}

extern "C" fn undefined(what: *const c_char, value: u64, site: abi::Site, fatal: u32, pc: u64) {
    let Some(core) = running() else { return };
    let what = text_of(what);
    let misaligned = what.starts_with("misaligned");
    let kind = if misaligned { Kind::Misaligned } else { Kind::Undefined };
    let spot = if site.line == 0 { Spot::before(pc) } else { Spot::of(site) };
    let text = if misaligned {
        core.misaligned.set(value as usize);
        checks::misaligned(value as usize)
    } else {
        format!("{what}: {}", value.cast_signed())
    };
    core.report(kind, core.current.get(), spot, text);
    if fatal != 0 {
        core.kill();
    }
}

fn text_of(what: *const c_char) -> String {
    if what.is_null() {
        return String::new();
    }
    // SAFETY: a string of the library.
    let what = unsafe { CStr::from_ptr(what) };
    what.to_string_lossy().into_owned()
}
