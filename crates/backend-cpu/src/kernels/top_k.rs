//! `top_k`: the k largest elements of each row in falling order; a row with a NaN gives ids of -1
//! and NaNs.

use minfer_graph::op::top_k::TopK;

use crate::call::Call;
use crate::sys::{Cuts, Fault, Grid};

pub(super) fn run(op: &TopK, call: &mut Call<'_>) -> Result<(), Fault> {
    let (x, cols) = (call.floats(0)?, call.input_type(0).cols);
    let ids = Grid::new(call.take::<i32>(0), op.k, Cuts::Every(1), op.k)?;
    let elements = Grid::new(call.take::<f32>(1), op.k, Cuts::Every(1), op.k)?;
    call.workers.pairs(&ids, &elements, &|mut ids, mut elements| {
        for row in ids.rows.clone() {
            let x = &x[row * cols..][..cols];
            let (ids, elements) = (ids.row(row), elements.row(row));
            if x.iter().any(|x| x.is_nan()) {
                ids.fill(-1);
                elements.fill(f32::NAN);
            } else {
                select(x, ids, elements);
            }
        }
    })
}

/// The largest elements in falling order with their columns, the lower column first among equals.
/// There is no NaN.
pub(super) fn select(x: &[f32], ids: &mut [i32], elements: &mut [f32]) {
    let k = ids.len();
    let mut kept = 0;
    for (column, value) in x.iter().enumerate() {
        if kept == k && *value <= elements[k - 1] {
            continue;
        }
        let place = elements[..kept].partition_point(|element| *element >= *value);
        if place == k {
            continue;
        }
        kept = (kept + 1).min(k);
        elements.copy_within(place..kept - 1, place + 1);
        ids.copy_within(place..kept - 1, place + 1);
        elements[place] = *value;
        ids[place] = column as i32;
    }
}

#[cfg(test)]
mod tests;
