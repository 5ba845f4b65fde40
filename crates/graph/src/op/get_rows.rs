//! `get_rows`: picks the token rows whose output is asked for.
//!
//! Formula: `y[o] = x[rows[o]]`. Operands: x f32 [T, C], rows i32 [O, 1]. Output: f32 [O, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::{Rows, TensorType};

/// Attributes of `get_rows`: none.
#[derive(Clone, Debug, PartialEq)]
pub struct GetRows;

impl OpDef for GetRows {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x, rows] = check::operands("get_rows", inputs)?;
        check::dtype("get_rows", x, DType::F32)?;
        check::index("get_rows", rows, Rows::OUTPUTS, 1)?;
        Ok(vec![TensorType::f32(Rows::OUTPUTS, x.cols)])
    }
}
