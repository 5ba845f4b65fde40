//! `matmul`: activations times a transposed weight matrix, plus an optional bias.
//!
//! Formula: `y[r, n] = Σ_k x[r, k] · W[n, k] + b[n]`. Operand: x f32, q8_0, q8_k or q16_0 [R, K]; W
//! is [N, K]. Output: f32 [R, N]. The operand's type decides the arithmetic (docs/numerics.md): f32
//! rows give a float dot over decoded weights, quantized rows an integer dot per block.

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::step::Counts;
use crate::value::{TensorType, WeightId};

/// Attributes of `matmul`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matmul {
    /// The matrix.
    pub weight: WeightId,
    /// Added to each row of the result.
    pub bias: Option<WeightId>,
    /// Asks the device for finer activations than usual, where the weight's format has them.
    pub fine: bool,
}

/// One matrix of an op that applies several to the same activations.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The matrix.
    pub weight: WeightId,
    /// Added to each row of its result.
    pub bias: Option<WeightId>,
    /// Operand it is applied to: the same activations may come in several types.
    pub operand: usize,
}

impl Member {
    /// A member applied to operand 0.
    pub fn new(weight: WeightId, bias: Option<WeightId>) -> Member {
        Member { weight, bias, operand: 0 }
    }

    /// Type of the member's result, given the op's operands.
    pub(crate) fn infer(
        &self,
        op: &'static str,
        inputs: &[TensorType],
        tables: &Tables,
    ) -> Result<TensorType, Error> {
        let Some(&x) = inputs.get(self.operand) else {
            return check::fail(op, format!("operand {}", self.operand), inputs.len().to_string());
        };
        let rows = check::matrix(op, tables, self.weight, 1, x)?;
        if let Some(bias) = self.bias {
            check::vector(op, tables, bias, rows)?;
        }
        Ok(TensorType::f32(x.rows, rows))
    }

    pub(crate) fn macs(&self, inputs: &[TensorType], tables: &Tables, counts: &Counts) -> u64 {
        let weight = tables.weight(self.weight);
        (inputs[self.operand].rows.live(counts) * weight.rows * weight.cols) as u64
    }
}

/// Weights and biases of members, in order.
pub(crate) fn member_weights(members: &[Member]) -> Vec<WeightId> {
    members.iter().flat_map(|m| [Some(m.weight), m.bias]).flatten().collect()
}

impl Matmul {
    /// A product whose device chooses the type of the activations.
    pub fn new(weight: WeightId, bias: Option<WeightId>) -> Matmul {
        Matmul { weight, bias, fine: false }
    }

    pub(crate) fn member(&self) -> Member {
        Member { weight: self.weight, bias: self.bias, operand: 0 }
    }
}

impl OpDef for Matmul {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [_x] = check::operands("matmul", inputs)?;
        Ok(vec![self.member().infer("matmul", inputs, tables)?])
    }

    fn attributes(&self) -> String {
        if self.fine { "fine".to_owned() } else { String::new() }
    }

    fn weights(&self) -> Vec<WeightId> {
        member_weights(&[self.member()])
    }

    fn macs(&self, inputs: &[TensorType], tables: &Tables, counts: &Counts) -> u64 {
        self.member().macs(inputs, tables, counts)
    }
}
