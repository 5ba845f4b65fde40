//! `quantize_rows`: f32 rows to int8 rows with a scale per block, the form integer dot products
//! take.
//!
//! Formula, per block of 32 (`q8_0`) or 256 (`q8_k`): `scale = max |x| / 127`, `q =
//! round_ties_even(x · 127 / max |x|)`, and the sums of q over 32 (16) values. A block with a NaN
//! or an infinity has a NaN scale. Operand: x f32 [R, C]. Output: `dtype` [R, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Attributes of `quantize_rows`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizeRows {
    /// `Q8_0` or `Q8_K`.
    pub dtype: DType,
}

impl OpDef for QuantizeRows {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("quantize_rows", inputs)?;
        check::dtype("quantize_rows", x, DType::F32)?;
        Ok(vec![quantized("quantize_rows", x, self.dtype)?])
    }

    fn attributes(&self) -> String {
        self.dtype.name().to_string()
    }
}

/// Type of `x` quantized to `dtype`.
pub(crate) fn quantized(
    op: &'static str,
    x: TensorType,
    dtype: DType,
) -> Result<TensorType, Error> {
    if !matches!(dtype, DType::Q8_0 | DType::Q8_K) {
        return check::fail(op, "a quantized target, q8_0 or q8_k", dtype.name());
    }
    if dtype.row_bytes(x.cols).is_err() {
        return check::fail(op, format!("columns in whole {} blocks", dtype.name()), x.to_string());
    }
    Ok(TensorType::new(dtype, x.rows, x.cols))
}
