//! `get_rows`: the token rows whose output is asked for.

use crate::call::Call;
use crate::sys::Fault;

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Fault> {
    let cols = call.output_type(0).cols;
    let (x, rows, out) = (call.floats(0)?, call.integers(1)?, call.take::<f32>(0));
    call.each_row(out, cols, |row, to| {
        to.copy_from_slice(&x[rows[row] as usize * cols..][..cols]);
    })
}
