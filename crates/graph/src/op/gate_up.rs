//! `gate_up`: the first half of a gated feed-forward block.
//!
//! Formula: `y = function(x · W_gateᵀ + b_gate) · (x · W_upᵀ + b_up)`, with `rms_norm(x)` for x
//! where the norm is taken in. Operands: the activations (once per type; one in f32 where they are
//! still to be normed). Output: f32 [R, F]. Composite of `matmul_group` and `glu`, with the same
//! roundings.

use super::glu::Glu;
use super::matmul::{Member, member_weights};
use super::matmul_group::{MatmulGroup, check_norm, check_operands, operand_text};
use super::rms_norm::RmsNorm;
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
    /// Norm of the activations, where it is taken in.
    pub input_norm: Option<RmsNorm>,
    /// Function of the gate.
    pub function: Activation,
}

impl OpDef for GateUp {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        check_operands("gate_up", inputs)?;
        check_norm("gate_up", self.input_norm.as_ref(), inputs, tables)?;
        let [gate, up] = self.members.as_slice() else {
            return check::fail("gate_up", "2 members", self.members.len().to_string());
        };
        let gate = gate.infer("gate_up", inputs, tables)?;
        check::equal("gate_up", gate, up.infer("gate_up", inputs, tables)?)?;
        Ok(vec![gate])
    }

    fn weights(&self) -> Vec<WeightId> {
        let norm = self.input_norm.iter().map(|norm| norm.weight);
        norm.chain(member_weights(&self.members)).collect()
    }

    fn attributes(&self) -> String {
        let norm = self.input_norm.iter().map(RmsNorm::attributes);
        let glu = Glu { function: self.function }.attributes();
        let parts = norm.chain([operand_text(&self.members), glu]);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
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
        if let Some(norm) = &self.input_norm {
            let normed = rewrite.emit("norm", norm.clone(), inputs)?;
            let rest = GateUp { input_norm: None, ..self.clone() };
            rewrite.emit_into("gate_up", rest, &normed, outputs);
            return Ok(true);
        }
        let group = MatmulGroup { members: self.members.clone() };
        let both = rewrite.emit("matmul", group, inputs)?;
        rewrite.emit_into("glu", Glu { function: self.function }, &both, outputs);
        Ok(true)
    }
}
