//! Entries that choose the code of an instruction set.

/// Makes a safe entry of a body that is generic over [`Lanes`].
macro_rules! dispatch {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:ident;
    )*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(simd: $crate::simd::Simd, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c")]
            fn avx2($($arg: $ty),*) $(-> $ret)? {
                $body::<$crate::simd::avx2::Avx2Lanes>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"
            )]
            fn avx512($($arg: $ty),*) $(-> $ret)? {
                $body::<$crate::simd::avx512::Avx512Lanes>($($arg),*)
            }
            use $crate::simd::Isa;
            match simd.isa() {
                Isa::Scalar => $body::<$crate::simd::scalar::ScalarLanes>($($arg),*),
                // SAFETY: a `Simd` of this kind is made only where the processor has these
                // features.
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 | Isa::AvxVnni => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 | Isa::Amx => unsafe { avx512($($arg),*) },
                #[cfg(not(target_arch = "x86_64"))]
                Isa::Avx2 | Isa::AvxVnni | Isa::Avx512 | Isa::Amx => {
                    unreachable!("no such `Simd` is made")
                }
            }
        }
    )*};
}
pub(super) use dispatch;
