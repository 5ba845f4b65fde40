//! `norm_add`: a norm whose result is added to what came before it, as behind a block of Gemma's.
//!
//! Formula: `y = rms_norm(x; w, eps) + residual`. Operands: x, residual f32 [R, C]. Output: f32 [R,
//! C]. Composite of `rms_norm` and `add`, with the same roundings.

use minfer_quant::DType;

use super::add::Add;
use super::rms_norm::RmsNorm;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::value::{TensorType, WeightId};

/// Attributes of `norm_add`.
#[derive(Clone, Debug, PartialEq)]
pub struct NormAdd {
    /// The norm's weight.
    pub weight: WeightId,
    /// Added to the mean square.
    pub eps: f32,
}

impl OpDef for NormAdd {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x, residual] = check::operands("norm_add", inputs)?;
        check::dtype("norm_add", x, DType::F32)?;
        check::equal("norm_add", x, residual)?;
        check::vector("norm_add", tables, self.weight, x.cols)?;
        Ok(vec![x])
    }

    fn weights(&self) -> Vec<WeightId> {
        vec![self.weight]
    }

    fn attributes(&self) -> String {
        format!("eps={}", self.eps)
    }

    fn in_place(&self) -> Option<usize> {
        Some(1)
    }

    fn decompose(
        &self,
        rewrite: &mut Rewrite<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<bool, Error> {
        let &[x, residual] = inputs else {
            return check::fail("norm_add", "2 operands", inputs.len().to_string());
        };
        let norm = RmsNorm { weight: self.weight, eps: self.eps };
        let normed = rewrite.emit("norm", norm, &[x])?;
        rewrite.emit_into("add", Add, &[normed[0], residual], outputs);
        Ok(true)
    }
}
