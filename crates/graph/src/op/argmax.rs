//! `argmax`: the column of each row's largest element, the lowest among equals.
//!
//! A row with a NaN gives -1, which the host reports as a numeric fault.
//! Operand: x f32 [R, C]. Output: i32 [R, 1].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Attributes of `argmax`: none.
#[derive(Clone, Debug, PartialEq)]
pub struct Argmax;

impl OpDef for Argmax {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("argmax", inputs)?;
        check::dtype("argmax", x, DType::F32)?;
        Ok(vec![TensorType::i32(x.rows, 1)])
    }
}
