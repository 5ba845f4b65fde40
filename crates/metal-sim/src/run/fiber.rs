//! Stacks, and the switch from one to another.
//!
//! A fiber is a stack and the registers that a call preserves, saved on it. Fibers are left at
//! calls only, so nothing else needs saving. None is ever resumed on another system thread.
#![expect(unsafe_code, reason = "a switch of stacks is written in assembler")]

use std::arch::naked_asm;
use std::cell::Cell;
use std::io;

use crate::abi;
use crate::memory::{Mapping, page_size};

/// Bytes of a thread's stack with its guard page.
pub const STACK: usize = 1 << abi::STACK_BITS;

/// Saves the running fiber in `save` and goes on with the one saved as `load`.
///
/// # Safety
/// `load` comes from a switch or from [`Stacks::fresh`], on this system thread, and is not used
/// twice; `save` can be written.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "sysv64" fn switch(save: *mut *mut u8, load: *mut u8) {
    // Most fibers are resumed where the one before was left, so its return is predicted well.
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Saves the running fiber in `save` and goes on with the one saved as `load`.
///
/// # Safety
/// `load` comes from a switch or from [`Stacks::fresh`], on this system thread, and is not used
/// twice; `save` can be written.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub unsafe extern "C" fn switch(save: *mut *mut u8, load: *mut u8) {
    naked_asm!(
        "stp x29, x30, [sp, #-160]!",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "ldp x29, x30, [sp], #160",
        "ret",
    )
}

/// Tells the processor that a fiber will soon go on: the stacks of a threadgroup are together
/// larger than its nearest cache.
#[inline(always)]
pub fn expect(fiber: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..3 {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, with an effect on time alone.
        unsafe { _mm_prefetch(fiber.wrapping_add(64 * line).cast::<i8>(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = fiber;
}

/// Words of a saved fiber, and which of them is the address to go on with. With the words, the
/// first frame is aligned as after a call.
#[cfg(target_arch = "x86_64")]
const FRAME: (usize, usize) = (8, 6);
#[cfg(target_arch = "aarch64")]
const FRAME: (usize, usize) = (20, 1);

/// Bytes of the row of all threads' stacks.
const ROW: usize = 1 << abi::ROW_BITS;

/// Stacks in a row, each above a page that cannot be touched, and room behind the row.
pub struct Stacks {
    _mapping: Mapping,
    /// The first stack, at a multiple of the row's size.
    start: *mut u8,
    guarded: Cell<usize>,
}

impl Stacks {
    /// A row, and so many bytes behind it, zeros; what is not touched costs no memory.
    pub fn new(behind: usize) -> io::Result<Stacks> {
        let mapping = Mapping::new(2 * ROW + behind)?;
        let skew = mapping.start().addr().next_multiple_of(ROW) - mapping.start().addr();
        let start = mapping.start().wrapping_add(skew);
        Ok(Stacks { _mapping: mapping, start, guarded: Cell::new(0) })
    }

    /// What lies behind the row.
    #[inline(always)]
    pub fn behind(&self) -> *mut u8 {
        self.start.wrapping_add(ROW)
    }

    /// Lowest address of a stack, its guard page included.
    pub fn low(&self, index: usize) -> usize {
        self.start as usize + index * STACK
    }

    /// Whether some stack contains an address.
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.low(0)) < ROW
    }

    /// Whether the caller runs below the stack that it should be on.
    pub fn overrun(&self, index: usize) -> bool {
        let here = 0_u8;
        (&raw const here as usize) < self.low(index) + page_size()
    }

    /// Protects the lowest page of the first `count` stacks: a system allows only so many borders
    /// between kinds of pages, so only what is used is protected.
    pub fn guard(&self, count: usize) -> io::Result<()> {
        for index in self.guarded.get()..count {
            let low = self.start.wrapping_add(index * STACK);
            // SAFETY: the lowest page of a stack of this mapping, not in use yet.
            if unsafe { libc::mprotect(low.cast(), page_size(), libc::PROT_NONE) } != 0 {
                return Err(io::Error::last_os_error());
            }
            self.guarded.set(index + 1);
        }
        Ok(())
    }

    /// A fiber on this stack that begins with `entry`. Tops are staggered, since addresses that
    /// agree in their low bits compete for the same lines of the cache.
    pub fn fresh(&self, index: usize, entry: extern "C" fn() -> !) -> *mut u8 {
        let top = (index + 1) * STACK - (index * 192) % 4096 - 64;
        let (words, address) = FRAME;
        let low = self.start.wrapping_add(top - 8 * words).cast::<usize>();
        let entry = entry as *const () as usize;
        // SAFETY: inside the stack, which no fiber uses now.
        unsafe { low.wrapping_add(address).write(entry) };
        low.cast()
    }
}
