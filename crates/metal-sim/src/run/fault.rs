//! Faults of the processor inside a kernel: they end the launch, not the process.
//!
//! The handler itself only notes what happened and has the fiber go on in a function that reports
//! it. A fault elsewhere goes to the handler that was there before.
#![expect(unsafe_code, reason = "signal handlers work on the interrupted thread's registers")]

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use super::bounds::NEAR;
use super::core::Core;
use super::fiber::STACK;
use super::log::Spot;
use super::{host, registers, symbols, sync, watchdog};
use crate::memory::{Mapping, page_size};
use crate::report::Kind;

/// What a processor can object to in a kernel, and what the watchdog sends.
const SIGNALS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, watchdog::SIGNAL];

/// Linux's `si_code` of a fault that no page has to do with. The library has no name for it.
const SI_KERNEL: c_int = 0x80;

/// Bytes of the stack that handlers run on.
const HANDLER_STACK: usize = 64 << 10;

/// A fault, as the handler noted it.
#[derive(Clone, Copy)]
pub struct Fault {
    signal: c_int,
    /// The processor refused the instruction itself, not the page.
    refused: bool,
    address: usize,
    pc: usize,
    stack: usize,
}

impl Fault {
    /// None so far.
    pub const NONE: Fault = Fault { signal: 0, refused: false, address: 0, pc: 0, stack: 0 };
}

/// Handlers that were there before, by place in [`SIGNALS`].
static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

/// Installs the handler, once a process.
pub fn install() -> io::Result<()> {
    if !registers::KNOWN {
        return Ok(());
    }
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let code = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    let result = INSTALLED.get_or_init(|| {
        let mut before = [const { MaybeUninit::<libc::sigaction>::zeroed() }; SIGNALS.len()];
        for (&signal, before) in SIGNALS.iter().zip(&mut before) {
            // SAFETY: only asks what the handler is.
            if unsafe { libc::sigaction(signal, ptr::null(), before.as_mut_ptr()) } != 0 {
                return Err(code());
            }
        }
        // SAFETY: all were filled in by the system just above.
        BEFORE.get_or_init(|| before.map(|before| unsafe { before.assume_init() }));
        for signal in SIGNALS {
            // SAFETY: all zeros are a valid value of this plain structure.
            let mut action = unsafe { MaybeUninit::<libc::sigaction>::zeroed().assume_init() };
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // SAFETY: the handler touches nothing that a signal may not.
            if unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } != 0 {
                return Err(code());
            }
        }
        Ok(())
    });
    result.map_err(io::Error::from_raw_os_error)
}

/// Gives this system thread a stack for handlers: a fiber's may be what overflowed.
pub fn handler_stack() -> io::Result<Mapping> {
    let mapping = Mapping::new(HANDLER_STACK)?;
    let size = HANDLER_STACK;
    let stack = libc::stack_t { ss_sp: mapping.start().cast(), ss_flags: 0, ss_size: size };
    // SAFETY: the mapping stays until the thread ends.
    if unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(mapping)
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let inside = host::core().filter(|core| core.inside.get());
    if signal == watchdog::SIGNAL {
        match inside.map(|core| (core, core.pulse.overdue.load(Ordering::Relaxed))) {
            Some((core, signals @ 1..)) => {
                // The next access or collective sees it. Who comes to none is diverted, but only
                // in the kernel's own code: elsewhere something might be left half done.
                core.steps.set(0);
                if signals > watchdog::GRACE && in_kernel(core, context) {
                    divert(core, signal, info, context);
                }
            }
            _ => pass_on(signal, info, context),
        }
    } else if let Some(core) = inside {
        divert(core, signal, info, context);
    } else {
        pass_on(signal, info, context);
    }
}

/// Whether a thread was interrupted in the code of the library that it runs.
fn in_kernel(core: &Core, context: *mut c_void) -> bool {
    // SAFETY: the system passes the interrupted thread's registers.
    let (pc, _) = registers::get(unsafe { &*context.cast::<libc::ucontext_t>() });
    let segments = core.dispatch().map_or(&[][..], |dispatch| dispatch.library.segments());
    segments.iter().any(|segment| segment.contains(&pc))
}

/// Hands a fault to the handler that was there before ours.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let place = SIGNALS.iter().position(|&known| known == signal);
    let before = place.and_then(|place| BEFORE.get()?.get(place));
    let Some(before) = before else { return };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN if signal == watchdog::SIGNAL => {}
        // The default is to end the process: it will, when the instruction is tried again.
        // SAFETY: puts back what was there.
        libc::SIG_DFL | libc::SIG_IGN => unsafe {
            libc::sigaction(signal, before, ptr::null_mut());
        },
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: the flag says that it is of this type.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag it is of this type.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}

/// Has the fiber go on in [`land`], on what is left of its stack.
fn divert(core: &Core, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid structure.
    let info = unsafe { &*info };
    // SAFETY: these signals carry an address.
    let address = unsafe { info.si_addr() } as usize;
    // SAFETY: the system passes the interrupted thread's registers.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let (pc, stack) = registers::get(context);
    let refused = signal == libc::SIGSEGV && info.si_code == SI_KERNEL;
    core.fault.set(Fault { signal, refused, address, pc, stack });
    let low = core.stacks.low(core.current.get());
    let room = low + page_size() + 8192;
    let top = if (room..low + STACK).contains(&stack) { stack - 1024 } else { low + STACK - 8192 };
    registers::set(context, land as *const () as usize, top & !15);
}

/// Reports the fault that was noted, and ends the launch.
extern "C" fn land() -> ! {
    let Some(core) = host::core() else { std::process::abort() };
    let fault = core.fault.get();
    let spot = Spot::Instruction(fault.pc);
    match fault.signal {
        libc::SIGFPE => core.fail(Kind::Undefined, spot, "integer division by zero".to_owned()),
        watchdog::SIGNAL => sync::hang(core, spot),
        libc::SIGILL | libc::SIGTRAP => {
            core.fail(Kind::Fault, spot, "the kernel ran into a trap".to_owned())
        }
        _ if fault.refused => {
            let text = "misaligned address of a vector, or one that no memory can have";
            core.fail(Kind::Misaligned, spot, text.to_owned())
        }
        _ => core.fail(Kind::Fault, spot, describe(core, &fault)),
    }
}

/// What lies at an address that cannot be touched.
fn describe(core: &Core, fault: &Fault) -> String {
    let &Fault { address, pc, stack, .. } = fault;
    let low = core.stacks.low(core.current.get());
    let guard = low..low + page_size();
    if stack < guard.end || guard.contains(&address) {
        return overflow();
    }
    let call = core.dispatch().map_or(0, |dispatch| dispatch.kernel.call as *const () as usize);
    let kernel = symbols::base_of(call);
    if kernel.is_some() && symbols::base_of(pc) != kernel {
        // The mistake may be the simulator's.
        let offset = symbols::base_of(pc).map_or(0, |base| pc - base);
        return format!(
            "access to {address:#x} by code outside of the kernel, at {offset:#x} of its object"
        );
    }
    let slices = core.dispatch().map_or(&[][..], |dispatch| &dispatch.slices);
    let distance = |slice: &&super::dispatch::Slice| {
        let range = slice.range();
        if address < range.start { range.start - address } else { address - range.end }
    };
    let near = slices.iter().min_by_key(distance).filter(|slice| distance(slice) < NEAR);
    match near {
        Some(slice) => {
            let offset = address as i128 - slice.range().start as i128;
            format!(
                "access outside every buffer; nearest is buffer({}) '{}': offset {offset}, \
                 length {}",
                slice.index, slice.name, slice.length
            )
        }
        None => format!("access to {address:#x}, which nothing is bound to"),
    }
}

/// What to say of a stack that is too small.
pub fn overflow() -> String {
    format!("a thread's variables and calls need more than {} KiB", STACK / 1024)
}
