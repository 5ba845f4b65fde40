//! `norm_matmul`: a norm and the matrices behind it in one pass over the activations.
//!
//! Formula: `y_i = (Σ_k x[k] · w[k] · W_i[n, k]) / √(mean x² + eps) + b_i`: the norm's scale is
//! applied to the dot product, so it rounds otherwise than its decomposition. Operand: x f32 [R,
//! C]. Outputs: f32 [R, N_i]. Composite of `rms_norm` and `matmul_group`.

use minfer_quant::DType;

use super::matmul::{Member, member_weights};
use super::matmul_group::MatmulGroup;
use super::rms_norm::RmsNorm;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::step::Counts;
use crate::value::{TensorType, WeightId};

/// Attributes of `norm_matmul`.
#[derive(Clone, Debug, PartialEq)]
pub struct NormMatmul {
    /// The norm's weight.
    pub weight: WeightId,
    /// Added to the mean square.
    pub eps: f32,
    /// The matrices, in output order.
    pub members: Vec<Member>,
}

impl OpDef for NormMatmul {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("norm_matmul", inputs)?;
        check::dtype("norm_matmul", x, DType::F32)?;
        check::vector("norm_matmul", tables, self.weight, x.cols)?;
        self.members.iter().map(|m| m.infer("norm_matmul", inputs, tables)).collect()
    }

    fn weights(&self) -> Vec<WeightId> {
        let mut weights = vec![self.weight];
        weights.extend(member_weights(&self.members));
        weights
    }

    fn attributes(&self) -> String {
        format!("eps={}", self.eps)
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
        let norm = RmsNorm { weight: self.weight, eps: self.eps };
        let normed = rewrite.emit("norm", norm, inputs)?;
        let group = MatmulGroup { members: self.members.clone() };
        rewrite.emit_into("matmul", group, &normed, outputs);
        Ok(true)
    }
}
