//! `expert_matmul`: each token's activations times the matrices of its experts.
//!
//! Tokens here are token rows or output rows. Formula: with k experts per token, `y[t·k + i] = x[t]
//! · W[experts[t, i]]ᵀ` when x has one row per token, and `x[t·k + i] · W[experts[t, i]]ᵀ` when it
//! has k. Operands: x f32, q8_0 or q8_k [T or T·k, K], experts i32 [T, k]; W is [E, N, K]. Output:
//! f32 [T·k, N].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::step::Counts;
use crate::value::{TensorType, WeightId};

/// Attributes of `expert_matmul`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpertMatmul {
    /// The experts' matrices.
    pub weight: WeightId,
}

impl ExpertMatmul {
    /// Bytes of the experts that a step can read: at most one for each (token, rank).
    pub(crate) fn bytes_read(
        &self,
        inputs: &[TensorType],
        tables: &Tables,
        counts: &Counts,
    ) -> u64 {
        let weight = tables.weight(self.weight);
        let pairs = inputs[1].rows.live(counts) * inputs[1].cols;
        (weight.bytes() / weight.experts.max(1) * pairs.min(weight.experts)) as u64
    }
}

impl OpDef for ExpertMatmul {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x, experts] = check::operands("expert_matmul", inputs)?;
        check::dtype("expert_matmul", experts, DType::I32)?;
        let rows = experts.rows.times(experts.cols);
        if x.rows != rows && x.rows != experts.rows {
            let expected = format!("{rows} or {} rows", experts.rows);
            return check::fail("expert_matmul", expected, x.to_string());
        }
        let experts = tables.weight(self.weight).experts;
        let cols = check::matrix("expert_matmul", tables, self.weight, experts, x)?;
        Ok(vec![TensorType::f32(rows, cols)])
    }

    fn weights(&self) -> Vec<WeightId> {
        vec![self.weight]
    }

    fn macs(&self, inputs: &[TensorType], tables: &Tables, counts: &Counts) -> u64 {
        let weight = tables.weight(self.weight);
        (inputs[1].rows.live(counts) * inputs[1].cols * weight.rows * weight.cols) as u64
    }
}
