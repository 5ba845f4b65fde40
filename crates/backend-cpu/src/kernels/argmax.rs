//! `argmax`: the column of each row's largest element, -1 where a row has a NaN.

use crate::call::Call;
use crate::simd;
use crate::sys::{Cuts, Fault, Grid};

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, x, cols) = (call.simd, call.floats(0)?, call.input_type(0).cols);
    let grid = Grid::new(call.take::<i32>(0), 1, Cuts::Every(1), 1)?;
    call.workers.each(grid, &|mut rectangle| {
        for row in rectangle.rows.clone() {
            let largest = simd::largest(simd, &x[row * cols..][..cols]);
            rectangle.row(row)[0] = largest.map_or(-1, |column| column as i32);
        }
    })
}
