//! `matmul_group`: several matrices applied to the same activations in one launch.
//!
//! Formula: `y_i = x · W_iᵀ + b_i`, one output per member. Operands: the activations, once per type
//! that the members take them in (one operand before types are chosen). Weights are never
//! concatenated. A primitive that still comes apart, with the same roundings, into one `matmul` per
//! member where a device lacks the pair of formats.

use minfer_quant::DType;

use super::matmul::{Matmul, Member, member_weights};
use super::rms_norm::RmsNorm;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::step::Counts;
use crate::value::{TensorType, WeightId};

/// Attributes of `matmul_group`.
#[derive(Clone, Debug, PartialEq)]
pub struct MatmulGroup {
    /// The matrices, in output order.
    pub members: Vec<Member>,
}

impl OpDef for MatmulGroup {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        check_operands("matmul_group", inputs)?;
        self.members.iter().map(|m| m.infer("matmul_group", inputs, tables)).collect()
    }

    fn weights(&self) -> Vec<WeightId> {
        member_weights(&self.members)
    }

    fn attributes(&self) -> String {
        operand_text(&self.members)
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
        for (index, (member, output)) in self.members.iter().zip(outputs).enumerate() {
            let matmul = Matmul::new(member.weight, member.bias);
            rewrite.emit_into(&index.to_string(), matmul, &[inputs[member.operand]], &[*output]);
        }
        Ok(true)
    }
}

/// At least one operand, all with the same rows and columns.
pub(crate) fn check_operands(op: &'static str, inputs: &[TensorType]) -> Result<(), Error> {
    let Some(first) = inputs.first() else {
        return check::fail(op, "at least one operand", "none");
    };
    match inputs.iter().find(|ty| (ty.rows, ty.cols) != (first.rows, first.cols)) {
        Some(other) => check::fail(op, format!("operands shaped like {first}"), other.to_string()),
        None => Ok(()),
    }
}

/// A norm that is taken in applies to one operand in f32.
pub(crate) fn check_norm(
    op: &'static str,
    norm: Option<&RmsNorm>,
    inputs: &[TensorType],
    tables: &Tables,
) -> Result<(), Error> {
    let Some(norm) = norm else { return Ok(()) };
    let [x] = check::operands(op, inputs)?;
    check::dtype(op, x, DType::F32)?;
    check::vector(op, tables, norm.weight, x.cols)
}

/// Which operand each member takes, when they differ.
pub(crate) fn operand_text(members: &[Member]) -> String {
    if members.iter().all(|m| m.operand == 0) {
        return String::new();
    }
    let operands: Vec<String> = members.iter().map(|m| m.operand.to_string()).collect();
    format!("operands={}", operands.join("/"))
}
