//! `scale`: an activation times a constant.
//!
//! Formula: `y = factor · x`. Operand: x f32 [R, C]. Output: f32 [R, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Attributes of `scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// The constant.
    pub factor: f32,
}

impl OpDef for Scale {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("scale", inputs)?;
        check::dtype("scale", x, DType::F32)?;
        Ok(vec![x])
    }

    fn attributes(&self) -> String {
        format!("factor={}", self.factor)
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}
