//! Inner loops, written once and compiled for each instruction set: float loops over [`Lanes`],
//! integer dot products over vectors of weight rows (`quads.rs`).
//!
//! The entries are safe: they check lengths, and a [`Simd`] value, which each takes, exists only
//! where its instruction set does. It is chosen once per device; no loop asks the processor again.
//! All forms give the bits that docs/numerics.md states. A new instruction set is one more
//! implementation of [`Lanes`] and of `Quads`, in a folder like `avx512/`.

#[cfg(target_arch = "x86_64")]
mod amx;
mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod block256;
#[cfg(target_arch = "x86_64")]
mod block32;
mod decode;
mod dispatch;
mod dot;
pub(crate) mod integer;
mod lanes;
mod map;
mod math;
#[cfg(target_arch = "x86_64")]
mod quads;
mod row;
mod scalar;
mod widen;

pub(crate) use attention::{Scores, Scoring, TILE, Tile, accumulate, scores, weights};
pub(crate) use decode::decode_blocks;
use dispatch::dispatch;
pub(crate) use dot::{Floats, products};
pub(crate) use integer::{ROWS, RUN, Rows, Sums};
pub(crate) use map::{add, axpy, blend, glu, mul, scale, unary};
pub(crate) use math::exp;
pub(crate) use row::{
    largest, quantize_q8_0, quantize_q8_k, quantize_q16_0, rms_norm, rope, softmax,
};
pub(crate) use widen::{narrow_bf16, narrow_f16, widen_bf16, widen_f16, widen_q8_0};

/// Instruction sets that kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// Plain code, for any processor.
    Scalar,
    /// AVX2 with FMA and F16C (x86-64).
    Avx2,
    /// The same with AVX-VNNI: integer dot products in one instruction.
    AvxVnni,
    /// AVX-512 F, BW, DQ and VL with VNNI: vectors twice as long.
    Avx512,
    /// The same with AMX's int8 tiles: products of 16 tokens at once.
    Amx,
}

impl Isa {
    /// Every instruction set, slowest first.
    pub const ALL: &[Isa] = &[Isa::Scalar, Isa::Avx2, Isa::AvxVnni, Isa::Avx512, Isa::Amx];

    /// Name in flags and dumps.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Avx2 => "avx2",
            Isa::AvxVnni => "avx-vnni",
            Isa::Avx512 => "avx512",
            Isa::Amx => "amx",
        }
    }

    /// Whether this processor has it.
    pub fn is_here(self) -> bool {
        match self {
            Isa::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2::is_here(),
            #[cfg(target_arch = "x86_64")]
            Isa::AvxVnni => avx2::is_here() && std::arch::is_x86_feature_detected!("avxvnni"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512::is_here() && avx2::is_here(),
            #[cfg(target_arch = "x86_64")]
            Isa::Amx => Isa::Avx512.is_here() && amx::is_here(),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::AvxVnni | Isa::Avx512 | Isa::Amx => false,
        }
    }

    /// The fastest that this processor has.
    pub fn best() -> Isa {
        Isa::ALL.iter().rev().copied().find(|isa| isa.is_here()).unwrap_or(Isa::Scalar)
    }
}

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Simd(Isa);

impl Simd {
    /// Proof that `isa` can be used, if it can.
    pub(crate) fn new(isa: Isa) -> Option<Simd> {
        isa.is_here().then_some(Simd(isa))
    }

    /// Which one.
    pub(crate) fn isa(self) -> Isa {
        self.0
    }
}

/// Asks for the line at `address`, which may be any, before it is needed.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "an intrinsic that takes a pointer")]
#[inline(always)]
fn prefetch(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing, and every processor of this architecture has it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

/// Asks for `bytes` before they are needed, where the processor can be asked.
pub(crate) fn fetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    bytes.chunks(64).for_each(|line| prefetch(line.as_ptr()));
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// The processor's name as it tells it, or "CPU".
pub(crate) fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    let name = avx2::processor();
    #[cfg(not(target_arch = "x86_64"))]
    let name = String::new();
    if name.is_empty() { "CPU".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
