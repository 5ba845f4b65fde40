//! `add`: the sum of two activations, such as a residual connection.
//!
//! Formula: `y = a + b`, element by element. Operands: a, b f32 [R, C]. Output: f32 [R, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Attributes of `add`: none.
#[derive(Clone, Debug, PartialEq)]
pub struct Add;

impl OpDef for Add {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [a, b] = check::operands("add", inputs)?;
        check::dtype("add", a, DType::F32)?;
        check::equal("add", a, b)?;
        Ok(vec![a])
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}
