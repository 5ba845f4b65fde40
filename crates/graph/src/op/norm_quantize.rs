//! `norm_quantize`: a norm whose result is only needed quantized.
//!
//! Formula: `y = quantize_rows(rms_norm(x; w, eps))`. Operand: x f32 [R, C]. Output: `dtype` [R,
//! C]. Composite of `rms_norm` and `quantize_rows`, with the same roundings.

use minfer_quant::DType;

use super::quantize_rows::{QuantizeRows, quantized};
use super::rms_norm::RmsNorm;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::value::{TensorType, WeightId};

/// Attributes of `norm_quantize`.
#[derive(Clone, Debug, PartialEq)]
pub struct NormQuantize {
    /// The norm's weight.
    pub weight: WeightId,
    /// Added to the mean square.
    pub eps: f32,
    /// `Q8_0` or `Q8_K`.
    pub dtype: DType,
}

impl OpDef for NormQuantize {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("norm_quantize", inputs)?;
        check::dtype("norm_quantize", x, DType::F32)?;
        check::vector("norm_quantize", tables, self.weight, x.cols)?;
        Ok(vec![quantized("norm_quantize", x, self.dtype)?])
    }

    fn weights(&self) -> Vec<WeightId> {
        vec![self.weight]
    }

    fn attributes(&self) -> String {
        format!("eps={}, {}", self.eps, self.dtype.name())
    }

    fn decompose(
        &self,
        rewrite: &mut Rewrite<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<bool, Error> {
        let norm = RmsNorm { weight: self.weight, eps: self.eps };
        let normed = rewrite.emit("norm", norm, inputs)?;
        rewrite.emit_into("quantize", QuantizeRows { dtype: self.dtype }, &normed, outputs);
        Ok(true)
    }
}
