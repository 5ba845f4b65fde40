//! `top_k`: the k largest elements of each row in falling order, the lower column first among
//! equals.
//!
//! A row with a NaN gives ids of -1. Operand: x f32 [R, C]. Outputs: columns i32 [R, k], elements
//! f32 [R, k].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Attributes of `top_k`.
#[derive(Clone, Debug, PartialEq)]
pub struct TopK {
    /// Elements to keep.
    pub k: usize,
}

impl OpDef for TopK {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("top_k", inputs)?;
        check::dtype("top_k", x, DType::F32)?;
        if self.k == 0 || self.k > x.cols {
            return check::fail("top_k", format!("1 to {} elements", x.cols), self.k.to_string());
        }
        Ok(vec![TensorType::i32(x.rows, self.k), TensorType::f32(x.rows, self.k)])
    }

    fn attributes(&self) -> String {
        format!("k={}", self.k)
    }
}
