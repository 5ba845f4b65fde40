//! `glu`: a gated linear unit's product (Shazeer, arXiv:2002.05202); SwiGLU with `silu`, GeGLU with
//! `gelu`.
//!
//! Formula: `y = function(gate) · up`. Operands: gate, up f32 [R, C]. Output: f32 [R, C].
//! Composite of `unary` and `mul`, with the same roundings.

use minfer_quant::DType;

use super::mul::Mul;
use super::unary::{Activation, Unary};
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::value::TensorType;

/// Attributes of `glu`.
#[derive(Clone, Debug, PartialEq)]
pub struct Glu {
    /// Function of the gate.
    pub function: Activation,
}

impl OpDef for Glu {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [gate, up] = check::operands("glu", inputs)?;
        check::dtype("glu", gate, DType::F32)?;
        check::equal("glu", gate, up)?;
        Ok(vec![gate])
    }

    fn attributes(&self) -> String {
        Unary { function: self.function }.attributes()
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
        let act = rewrite.emit("act", Unary { function: self.function }, &inputs[..1])?;
        rewrite.emit_into("mul", Mul, &[act[0], inputs[1]], outputs);
        Ok(true)
    }
}
