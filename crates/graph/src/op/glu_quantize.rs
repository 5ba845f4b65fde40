//! `glu_quantize`: a gated product that is only needed quantized.
//!
//! Formula: `y = quantize_rows(function(gate) · up)`. Operands: gate, up f32 [R, C]. Output:
//! `dtype` [R, C]. Composite of `glu` and `quantize_rows`, with the same roundings.

use minfer_quant::DType;

use super::glu::Glu;
use super::quantize_rows::{QuantizeRows, quantized};
use super::unary::Activation;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::value::TensorType;

/// Attributes of `glu_quantize`.
#[derive(Clone, Debug, PartialEq)]
pub struct GluQuantize {
    /// Function of the gate.
    pub function: Activation,
    /// `Q8_0` or `Q8_K`.
    pub dtype: DType,
}

impl OpDef for GluQuantize {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [gate, up] = check::operands("glu_quantize", inputs)?;
        check::dtype("glu_quantize", gate, DType::F32)?;
        check::equal("glu_quantize", gate, up)?;
        Ok(vec![quantized("glu_quantize", gate, self.dtype)?])
    }

    fn attributes(&self) -> String {
        let glu = Glu { function: self.function };
        format!("{}, {}", glu.attributes(), self.dtype.name())
    }

    fn decompose(
        &self,
        rewrite: &mut Rewrite<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<bool, Error> {
        let product = rewrite.emit("glu", Glu { function: self.function }, inputs)?;
        rewrite.emit_into("quantize", QuantizeRows { dtype: self.dtype }, &product, outputs);
        Ok(true)
    }
}
