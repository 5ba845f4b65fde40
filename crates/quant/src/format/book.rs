//! Values from an entry of a code book, as the `iq` formats have them.

/// Values `scale * level`, with a minus where `signs` has a bit, the first value's lowest.
#[inline(always)]
pub(crate) fn put<const N: usize>(out: &mut [f32], levels: &[i8; N], signs: u8, scale: f32) {
    for i in 0..N {
        let level = f32::from(levels[i]);
        out[i] = scale * if signs >> i & 1 == 1 { -level } else { level };
    }
}

/// The half byte `index`, low halves first.
#[inline(always)]
pub(crate) fn half(bytes: &[u8], index: usize) -> u8 {
    (bytes[index / 2] >> (index % 2 * 4)) & 15
}
