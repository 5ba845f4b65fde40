//! `add_norm`: a residual connection and the norm that follows it.
//!
//! Formula: `s = a + b`, `y = rms_norm(s; w, eps)`. Operands: a, b f32 [R, C]. Outputs: s, y f32
//! [R, C]. Composite of `add` and `rms_norm`, with the same roundings.

use minfer_quant::DType;

use super::add::Add;
use super::rms_norm::RmsNorm;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::value::{TensorType, WeightId};

/// Attributes of `add_norm`.
#[derive(Clone, Debug, PartialEq)]
pub struct AddNorm {
    /// The norm's weight.
    pub weight: WeightId,
    /// Added to the mean square.
    pub eps: f32,
}

impl OpDef for AddNorm {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [a, b] = check::operands("add_norm", inputs)?;
        check::dtype("add_norm", a, DType::F32)?;
        check::equal("add_norm", a, b)?;
        check::vector("add_norm", tables, self.weight, a.cols)?;
        Ok(vec![a, a])
    }

    fn weights(&self) -> Vec<WeightId> {
        vec![self.weight]
    }

    fn attributes(&self) -> String {
        format!("eps={}", self.eps)
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }

    fn decompose(
        &self,
        rewrite: &mut Rewrite<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<bool, Error> {
        rewrite.emit_into("add", Add, inputs, &outputs[..1]);
        let norm = RmsNorm { weight: self.weight, eps: self.eps };
        rewrite.emit_into("norm", norm, &outputs[..1], &outputs[1..]);
        Ok(true)
    }
}
