//! `q8_0` against q8_0 rows: `w = q`, a signed byte; blocks of 32 in 34 bytes.

use super::rows::{Q8_0Row, f16, one_by_one};
use crate::simd::{Rows8, Simd, Sums, integer};

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8_0Row<'_>) -> f32 {
    let values = |b: &[u8; 34]| std::array::from_fn(|i| b[2 + i].cast_signed());
    x.chain(row, values, |b| (f16(b, 0), None))
}

/// Eight rows; `acc` is zero at first.
pub(crate) fn dot8(simd: Simd, rows: &Rows8<'_>, xs: &[Q8_0Row<'_>], acc: &mut [Sums]) {
    if !integer::q8_0(simd, rows, xs, acc) {
        one_by_one(rows, xs, acc, dot);
    }
}
