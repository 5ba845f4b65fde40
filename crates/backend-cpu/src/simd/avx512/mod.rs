//! The forms for AVX-512 with VNNI: `Lanes` on zmm registers, and what integer products need.
//!
//! [`Avx512Lanes`] is used only in functions compiled with these features, which are entered
//! through a `Simd` value.

mod lanes;
mod quads;

pub(super) use lanes::Avx512Lanes;
pub(super) use quads::Zmm;

/// Whether this processor has F, BW, DQ, VL and VNNI.
pub(super) fn is_here() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx512vnni")
}
