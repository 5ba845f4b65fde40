//! `route`: the experts of each token and their weights.

use minfer_graph::op::route::Route;

use super::top_k;
use crate::call::Call;
use crate::sys::{Cuts, Fault, Grid};

pub(super) fn run(op: &Route, call: &mut Call<'_>) -> Result<(), Fault> {
    let (x, cols) = (call.floats(0)?, call.input_type(0).cols);
    let experts = Grid::new(call.take::<i32>(0), op.used, Cuts::Every(16), op.used)?;
    let weights = Grid::new(call.take::<f32>(1), op.used, Cuts::Every(16), op.used)?;
    call.workers.pairs(&experts, &weights, &|mut experts, mut weights| {
        for row in experts.rows.clone() {
            let (x, experts) = (&x[row * cols..][..cols], experts.row(row));
            let weights = weights.row(row);
            if x.iter().any(|x| x.is_nan()) {
                // No expert is best: any will do, with a weight that shows the fault.
                experts.iter_mut().zip(0..).for_each(|(expert, rank)| *expert = rank);
                weights.fill(f32::NAN);
                continue;
            }
            top_k::select(x, experts, weights);
            if op.normalize {
                let sum = weights[1..].iter().fold(weights[0], |sum, w| sum + w);
                weights.iter_mut().for_each(|w| *w /= sum);
            }
        }
    })
}
