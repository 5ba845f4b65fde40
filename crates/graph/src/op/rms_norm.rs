//! `rms_norm`: each row divided by its root mean square, times a weight (Zhang and Sennrich,
//! arXiv:1910.07467).
//!
//! Formula: `y[r, c] = x[r, c] · w[c] / √(mean_c x[r, c]² + eps)`. Operand: x f32 [R, C]. Output:
//! f32 [R, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::{TensorType, WeightId};

/// Attributes of `rms_norm`.
#[derive(Clone, Debug, PartialEq)]
pub struct RmsNorm {
    /// The weight, one element per column.
    pub weight: WeightId,
    /// Added to the mean square.
    pub eps: f32,
}

impl OpDef for RmsNorm {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("rms_norm", inputs)?;
        check::dtype("rms_norm", x, DType::F32)?;
        check::vector("rms_norm", tables, self.weight, x.cols)?;
        Ok(vec![x])
    }

    fn weights(&self) -> Vec<WeightId> {
        vec![self.weight]
    }

    fn attributes(&self) -> String {
        format!("eps={}", self.eps)
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}
