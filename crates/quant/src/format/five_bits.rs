//! 32 five-bit levels in 20 bytes, as `q5_0` and `q5_1` store them: a u32 of the top bits, then 16
//! bytes of low halves.

pub(crate) const BYTES: usize = 20;
const LOW: usize = 4;

/// The levels of values 0..32, each in 0..32.
#[inline(always)]
pub(crate) fn unpack(packed: &[u8; BYTES]) -> [u8; 32] {
    let mut q = [0; 32];
    for i in 0..16 {
        let top = |at: usize| (packed[at / 8] >> (at % 8) & 1) << 4;
        q[i] = (packed[LOW + i] & 15) | top(i);
        q[i + 16] = (packed[LOW + i] >> 4) | top(i + 16);
    }
    q
}

/// The inverse of [`unpack`].
#[inline(always)]
pub(crate) fn pack(q: &[u8; 32]) -> [u8; BYTES] {
    let mut packed = [0; BYTES];
    for i in 0..16 {
        packed[LOW + i] = (q[i] & 15) | (q[i + 16] << 4);
    }
    for i in 0..32 {
        packed[i / 8] |= (q[i] >> 4) << (i % 8);
    }
    packed
}
