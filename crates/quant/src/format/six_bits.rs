//! Eight scales and eight minima of 6 bits in 12 bytes, as `q4_k` and `q5_k` store them.
//!
//! Bytes 0..4 hold scales 0..4 in their low 6 bits, bytes 4..8 minima 0..4 likewise. Bytes 8..12
//! hold the low 4 bits of scales 4..8 (low half) and of minima 4..8 (high half); the top 2 bits of
//! these sit at the top of bytes 0..4 and 4..8.

pub(crate) const BYTES: usize = 12;

/// Scales and minima of the 8 groups, in 0..64.
#[inline(always)]
pub(crate) fn unpack(packed: &[u8; BYTES]) -> ([u8; 8], [u8; 8]) {
    let (mut scales, mut mins) = ([0; 8], [0; 8]);
    for g in 0..4 {
        let (first, second, rest) = (packed[g], packed[4 + g], packed[8 + g]);
        scales[g] = first & 63;
        mins[g] = second & 63;
        scales[4 + g] = (rest & 15) | (first >> 6 << 4);
        mins[4 + g] = (rest >> 4) | (second >> 6 << 4);
    }
    (scales, mins)
}

/// The inverse of [`unpack`].
pub(crate) fn pack(scales: &[u8; 8], mins: &[u8; 8]) -> [u8; BYTES] {
    let mut packed = [0; BYTES];
    for g in 0..4 {
        packed[g] = scales[g] | (scales[4 + g] >> 4 << 6);
        packed[4 + g] = mins[g] | (mins[4 + g] >> 4 << 6);
        packed[8 + g] = (scales[4 + g] & 15) | (mins[4 + g] << 4);
    }
    packed
}
