//! `quantize_rows`: f32 rows to integer rows with a scale per block, the form integer dot products
//! take.
//!
//! Formula, per block of 32 (`q8_0`, `q16_0`) or 256 (`q8_k`), with L = 127 (`q16_0`: 32767):
//! `scale = max |x| / L`, `q = round_ties_even(x · L / max |x|)` (0 where L / max |x| is not
//! finite), and the sums of q over 32 (`q8_k`: 16) values. A block with a NaN or an infinity has a
//! NaN scale. Operand: x f32 [R, C]. Output: `dtype` [R, C].

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
    if !matches!(dtype, DType::Q8_0 | DType::Q8_K | DType::Q16_0) {
        return check::fail(op, "a quantized target, q8_0, q8_k or q16_0", dtype.name());
    }
    if dtype.row_bytes(x.cols).is_err() {
        return check::fail(op, format!("columns in whole {} blocks", dtype.name()), x.to_string());
    }
    Ok(TensorType::new(dtype, x.rows, x.cols))
}
