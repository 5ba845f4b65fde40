//! `softmax`: each row to probabilities.
//!
//! Formula: `y[r, c] = e^(x[r, c] − m) / Σ_c e^(x[r, c] − m)` with m the row's maximum.
//! Operand: x f32 [R, C]. Output: f32 [R, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Attributes of `softmax`: none.
#[derive(Clone, Debug, PartialEq)]
pub struct Softmax;

impl OpDef for Softmax {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("softmax", inputs)?;
        check::dtype("softmax", x, DType::F32)?;
        Ok(vec![x])
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}
