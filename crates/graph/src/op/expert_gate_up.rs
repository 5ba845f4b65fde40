//! `expert_gate_up`: the first half of a gated feed-forward block, of each token's experts.
//!
//! Formula: `y = function(expert_matmul(x, experts; W_gate)) · expert_matmul(x, experts; W_up)`.
//! Operands: as `expert_matmul`'s. Output: f32 [T·k, F]. Composite of two `expert_matmul` and
//! `glu`, with the same roundings.

use super::expert_matmul::ExpertMatmul;
use super::glu::Glu;
use super::unary::Activation;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::step::Counts;
use crate::value::{TensorType, WeightId};

/// Attributes of `expert_gate_up`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpertGateUp {
    /// The experts' gate matrices.
    pub gate: WeightId,
    /// Their up matrices.
    pub up: WeightId,
    /// Function of the gate.
    pub function: Activation,
}

impl ExpertGateUp {
    fn products(&self) -> [ExpertMatmul; 2] {
        [self.gate, self.up].map(|weight| ExpertMatmul { weight })
    }

    /// Bytes of the experts that a step can read.
    pub(crate) fn bytes_read(
        &self,
        inputs: &[TensorType],
        tables: &Tables,
        counts: &Counts,
    ) -> u64 {
        self.products().iter().map(|product| product.bytes_read(inputs, tables, counts)).sum()
    }
}

impl OpDef for ExpertGateUp {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [gate, up] = self.products();
        let gate = gate.infer(inputs, tables)?;
        check::equal("expert_gate_up", gate[0], up.infer(inputs, tables)?[0])?;
        Ok(gate)
    }

    fn weights(&self) -> Vec<WeightId> {
        vec![self.gate, self.up]
    }

    fn attributes(&self) -> String {
        Glu { function: self.function }.attributes()
    }

    fn macs(&self, inputs: &[TensorType], tables: &Tables, counts: &Counts) -> u64 {
        self.products().iter().map(|product| product.macs(inputs, tables, counts)).sum()
    }

    fn decompose(
        &self,
        rewrite: &mut Rewrite<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<bool, Error> {
        let [gate, up] = self.products();
        let gate = rewrite.emit("gate", gate, inputs)?;
        let up = rewrite.emit("up", up, inputs)?;
        rewrite.emit_into("glu", Glu { function: self.function }, &[gate[0], up[0]], outputs);
        Ok(true)
    }
}
