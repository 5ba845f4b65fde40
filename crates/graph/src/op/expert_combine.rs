//! `expert_combine`: the weighted sum of the experts' results, in rank order.
//!
//! Formula: `y[t] = Σ_i weights[t, i] · x[t·k + i]`, as a chain of fused multiply-adds from zero.
//! Operands: x f32 [T·k, C], weights f32 [T, k]. Output: f32 [T, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::step::Counts;
use crate::value::TensorType;

/// Attributes of `expert_combine`: none.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpertCombine;

impl OpDef for ExpertCombine {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x, weights] = check::operands("expert_combine", inputs)?;
        check::dtype("expert_combine", x, DType::F32)?;
        check::dtype("expert_combine", weights, DType::F32)?;
        let rows = weights.rows.times(weights.cols);
        if x.rows != rows {
            return check::fail("expert_combine", format!("{rows} rows"), x.to_string());
        }
        Ok(vec![TensorType::f32(weights.rows, x.cols)])
    }

    fn macs(&self, inputs: &[TensorType], _tables: &Tables, counts: &Counts) -> u64 {
        (inputs[0].rows.live(counts) * inputs[0].cols) as u64
    }
}
