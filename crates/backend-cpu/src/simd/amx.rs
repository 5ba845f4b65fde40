#![expect(unsafe_code, reason = "instructions without stable intrinsics")]
//! Tile registers (AMX): products of 16 tokens with a group of 16 rows in one instruction.
//!
//! The instructions have no stable intrinsics; they are written in assembly, which leaves the
//! registers to nobody else. A group's quads side by side are just what the instruction wants of
//! its second operand; its first is a block of 16 tokens.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::kernels::quant::TOKENS;

/// Bytes of one row of sums, and of a quad of 16 weight rows.
const LINE: usize = 64;

/// The configuration: palette 1; register 0 holds sums, 1 and 2 activations and weights of 32
/// values, 3 and 4 those of 16 (Intel's manual, volume 1, chapter 18).
const LAYOUT: [u8; 64] = {
    let mut bytes = [0; 64];
    bytes[0] = 1;
    let shapes = [(16, 64), (16, 32), (8, 64), (16, 16), (4, 64)];
    let mut i = 0;
    while i < shapes.len() {
        (bytes[48 + i], bytes[16 + 2 * i]) = shapes[i];
        i += 1;
    }
    bytes
};

/// Whether this processor has int8 tiles and the system lets this process use them.
pub(super) fn is_here() -> bool {
    static HERE: OnceLock<bool> = OnceLock::new();
    *HERE.get_or_init(|| has_tiles() && permitted())
}

fn has_tiles() -> bool {
    let (tile, int8) = (1 << 24, 1 << 25);
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).edx & (tile | int8) == tile | int8
}

/// Asks the kernel for the registers' state, for all threads of the process.
#[cfg(target_os = "linux")]
fn permitted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const REQUEST_PERMISSION: i64 = 0x1023;
    const TILE_DATA: i64 = 18;
    let result: i64;
    // SAFETY: a system call that changes what this process may use, and no memory.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

/// A thread's tile registers, set up for these products for as long as this lives.
pub(super) struct Tiles(PhantomData<*const ()>);

impl Tiles {
    /// Sets the registers up; the caller runs only where [`is_here`] holds.
    pub(super) fn new() -> Tiles {
        // SAFETY: a `Simd` of this kind is made only where the processor has tiles.
        unsafe {
            asm!(
                "ldtilecfg [{layout}]",
                layout = in(reg) &LAYOUT,
                options(nostack, readonly, preserves_flags),
            );
        }
        Tiles(PhantomData)
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        unsafe { asm!("tilerelease", options(nostack, nomem, preserves_flags)) };
    }
}

/// `out[t]` = Σ w · x over the bytes of token t and a group; both are signed.
#[inline(always)]
pub(super) fn dot32(
    _tiles: &Tiles,
    w: &[[u8; LINE]; 8],
    x: &[[i32; 8]; TOKENS],
    out: &mut [[i32; 16]; TOKENS],
) {
    // SAFETY: `Tiles` has set up the registers; each instruction reads or writes the whole of the
    // array that its operand points to.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tileloadd tmm1, [{x} + {stride}*1]",
            "tileloadd tmm2, [{w} + {line}*1]",
            "tdpbssd tmm0, tmm1, tmm2",
            "tilestored [{out} + {line}*1], tmm0",
            x = in(reg) x,
            stride = in(reg) size_of::<[i32; 8]>(),
            w = in(reg) w,
            line = in(reg) LINE,
            out = in(reg) out,
            out("tmm0") _,
            out("tmm1") _,
            out("tmm2") _,
            options(nostack, preserves_flags),
        );
    }
}

/// The same for 16 of the bytes, from quad `first` on.
#[inline(always)]
pub(super) fn dot16(
    _tiles: &Tiles,
    w: &[[u8; LINE]; 4],
    x: &[[i32; 8]; TOKENS],
    first: usize,
    out: &mut [[i32; 16]; TOKENS],
) {
    assert!(first <= 4, "a quad of the first half, or the second");
    // SAFETY: as in `dot32`; of each token's quads four are read, from one that leaves four.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tileloadd tmm3, [{x} + {stride}*1]",
            "tileloadd tmm4, [{w} + {line}*1]",
            "tdpbssd tmm0, tmm3, tmm4",
            "tilestored [{out} + {line}*1], tmm0",
            x = in(reg) &x[0][first],
            stride = in(reg) size_of::<[i32; 8]>(),
            w = in(reg) w,
            line = in(reg) LINE,
            out = in(reg) out,
            out("tmm0") _,
            out("tmm3") _,
            out("tmm4") _,
            options(nostack, preserves_flags),
        );
    }
}
