//! `q4_k` against q8_k rows: `w = q` of 4 bits, scales and minima of 6 bits per 32; super-blocks of
//! 256 in 144 bytes.

use super::rows::{Q8KRow, SuperBlock, f16, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// Scales and minima of the eight groups, here and in `q5_k`: 6 bits each in 12 bytes. The first
/// four of each lie in bytes 0…7; the others have their low halves in bytes 8…11 and their top bits
/// above the first four.
pub(crate) fn scales(packed: &[u8; 12]) -> ([i16; 8], [i16; 8]) {
    let number = |first: usize, shift: u32, g: usize| {
        let byte = packed[first + g % 4];
        if g < 4 {
            i16::from(byte & 63)
        } else {
            i16::from((packed[8 + g % 4] >> shift) & 15 | byte >> 6 << 4)
        }
    };
    (std::array::from_fn(|g| number(0, 0, g)), std::array::from_fn(|g| number(4, 4, g)))
}

/// The numbers of a super-block.
fn read(block: &[u8; 144]) -> SuperBlock {
    let packed = block[4..16].try_into().expect("twelve bytes");
    let (scales, mins) = scales(packed);
    // Value 64h + i: byte 32h + i % 32, the low half for i < 32.
    let value = |v: usize| (block[16 + v / 64 * 32 + v % 32] >> (v % 64 / 32 * 4)) & 15;
    SuperBlock {
        values: std::array::from_fn(|v| value(v) as i8),
        scales: std::array::from_fn(|g| scales[g / 2]),
        mins: Some((std::array::from_fn(|g| mins[g / 2]), f16(block, 2))),
        d: f16(block, 0),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::q4_k(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
