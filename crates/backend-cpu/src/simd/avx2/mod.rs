//! The forms for AVX2 with FMA and F16C: `Lanes` on ymm registers, and the
//! vectors of integer dot products.
//!
//! [`Avx2Lanes`] is used only in functions compiled with these features, which are entered through
//! a `Simd` value.

/// One intrinsic of the features that the caller's type stands for.
macro_rules! op {
    ($intrinsic:expr) => {
        // SAFETY: this code runs only where `Simd` has proved the features.
        unsafe { $intrinsic }
    };
}
pub(super) use op;

pub(super) mod fine32;
mod lanes;
mod quads;

use std::arch::x86_64::__cpuid;

pub(super) use lanes::{Avx2Lanes, largest_of_eight, tree_of_eight};
pub(super) use quads::Ymm;

/// Whether this processor has all of AVX2, FMA and F16C.
pub(super) fn is_here() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
        && std::arch::is_x86_feature_detected!("f16c")
}

/// The brand string that CPUID gives, without its padding.
pub(super) fn processor() -> String {
    let highest = __cpuid(0x8000_0000).eax;
    if highest < 0x8000_0004 {
        return String::new();
    }
    let mut bytes = Vec::with_capacity(48);
    for leaf in 0x8000_0002..=0x8000_0004_u32 {
        let part = __cpuid(leaf);
        for register in [part.eax, part.ebx, part.ecx, part.edx] {
            bytes.extend(register.to_le_bytes());
        }
    }
    bytes.retain(|byte| (32..127).contains(byte));
    String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}
