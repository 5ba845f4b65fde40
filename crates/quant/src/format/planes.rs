//! Where the low and high bits of 256 levels lie in the K formats: as bit planes over runs of
//! bytes, so that one shift and one mask unpack a whole group of 16.

/// Values in a group.
pub(crate) const GROUP: usize = 16;

/// Two bits per value (`q2_k`, low bits of `q3_k`, high bits of `q6_k`): byte offset and shift of
/// the 16 bytes of group `g`. A run of 32 bytes holds 128 values, at bit 2 * j those from 32 * j.
#[inline(always)]
pub(crate) const fn two_bits(g: usize) -> (usize, usize) {
    (g / 8 * 32 + g % 2 * GROUP, g % 8 / 2 * 2)
}

/// One bit per value (`q3_k`, `q5_k`): the same for 32 bytes that hold all 256 values, at bit j
/// those from 32 * j.
#[inline(always)]
pub(crate) const fn one_bit(g: usize) -> (usize, usize) {
    (g % 2 * GROUP, g / 2)
}

/// Four bits per value (`q4_k`, `q5_k`): a run of 32 bytes holds 64 values, the first 32 in the low
/// halves.
#[inline(always)]
pub(crate) const fn four_bits(g: usize) -> (usize, usize) {
    (g / 4 * 32 + g % 2 * GROUP, g % 4 / 2 * 4)
}

/// Four bits per value as `q6_k` keeps them: a run of 64 bytes holds 128 values, the first 64 in
/// the low halves.
#[inline(always)]
pub(crate) const fn four_bits_wide(g: usize) -> (usize, usize) {
    (g / 8 * 64 + g % 4 * GROUP, g % 8 / 4 * 4)
}

/// Puts the bits `mask` of each level at `shift` of its byte, which holds zeros there.
#[inline(always)]
pub(crate) fn merge(bytes: &mut [u8; GROUP], levels: &[u8; GROUP], mask: u8, shift: usize) {
    for (byte, level) in bytes.iter_mut().zip(levels) {
        *byte |= (level & mask) << shift;
    }
}
