//! `qk_norm`: `rms_norm` of each head's part of a row, with one weight for all heads.
//!
//! Formula: with x seen as [R, H, head_dim], `y[r, h] = rms_norm(x[r, h]; w, eps)`.
//! Operand: x f32 [R, H · head_dim]. Output: the same type.

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::{TensorType, WeightId};

/// Attributes of `qk_norm`.
#[derive(Clone, Debug, PartialEq)]
pub struct QkNorm {
    /// The weight, one element per column of a head.
    pub weight: WeightId,
    /// Added to the mean square.
    pub eps: f32,
    /// Elements of a head.
    pub head_dim: usize,
}

impl OpDef for QkNorm {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("qk_norm", inputs)?;
        check::dtype("qk_norm", x, DType::F32)?;
        if self.head_dim == 0 || !x.cols.is_multiple_of(self.head_dim) {
            return check::fail("qk_norm", format!("heads of {}", self.head_dim), x.to_string());
        }
        check::vector("qk_norm", tables, self.weight, self.head_dim)?;
        Ok(vec![x])
    }

    fn weights(&self) -> Vec<WeightId> {
        vec![self.weight]
    }

    fn attributes(&self) -> String {
        format!("head_dim={}, eps={}", self.head_dim, self.eps)
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}
