//! The forms for AVX-512 with VNNI.

mod quads;

pub(super) use quads::Zmm;

/// Whether this processor has F, BW, DQ, VL and VNNI.
pub(super) fn is_here() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx512vnni")
}
