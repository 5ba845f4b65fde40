//! `mul`: the product of two activations.
//!
//! Formula: `y = a · b`, element by element. Operands: a, b f32 [R, C]. Output: f32 [R, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Attributes of `mul`: none.
#[derive(Clone, Debug, PartialEq)]
pub struct Mul;

impl OpDef for Mul {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [a, b] = check::operands("mul", inputs)?;
        check::dtype("mul", a, DType::F32)?;
        check::equal("mul", a, b)?;
        Ok(vec![a])
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}
