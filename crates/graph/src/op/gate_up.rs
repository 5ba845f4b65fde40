//! `gate_up`: the first half of a gated feed-forward block.
//!
//! Formula: `y = function(x · W_gateᵀ + b_gate) · (x · W_upᵀ + b_up)`. Operands: the activations
//! (once per type). Output: f32 [R, F]. Composite of `matmul_group` and `glu`, with the same
//! roundings.

use super::glu::Glu;
use super::matmul::{Member, member_weights};
use super::matmul_group::{MatmulGroup, check_operands, operand_text};
use super::unary::Activation;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::step::Counts;
use crate::value::{TensorType, WeightId};

/// Attributes of `gate_up`.
#[derive(Clone, Debug, PartialEq)]
pub struct GateUp {
    /// The matrices of gate and up, in this order.
    pub members: Vec<Member>,
    /// Function of the gate.
    pub function: Activation,
}

impl OpDef for GateUp {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        check_operands("gate_up", inputs)?;
        let [gate, up] = self.members.as_slice() else {
            return check::fail("gate_up", "2 members", self.members.len().to_string());
        };
        let gate = gate.infer("gate_up", inputs, tables)?;
        check::equal("gate_up", gate, up.infer("gate_up", inputs, tables)?)?;
        Ok(vec![gate])
    }

    fn weights(&self) -> Vec<WeightId> {
        member_weights(&self.members)
    }

    fn attributes(&self) -> String {
        let operands = operand_text(&self.members);
        let separator = if operands.is_empty() { "" } else { ", " };
        format!("{operands}{separator}{}", Glu { function: self.function }.attributes())
    }

    fn macs(&self, inputs: &[TensorType], tables: &Tables, counts: &Counts) -> u64 {
        self.members.iter().map(|m| m.macs(inputs, tables, counts)).sum()
    }

    fn decompose(
        &self,
        rewrite: &mut Rewrite<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<bool, Error> {
        let group = MatmulGroup { members: self.members.clone() };
        let both = rewrite.emit("matmul", group, inputs)?;
        rewrite.emit_into("glu", Glu { function: self.function }, &both, outputs);
        Ok(true)
    }
}
