//! `unary`: a function of each element.
//!
//! Formulas: `silu(x) = x / (1 + e^-x)`; `gelu(x) = x / (1 + e^(-2u))` with `u = √(2/π) · (x +
//! 0.044715 x³)`, the tanh form of Hendrycks and Gimpel (arXiv:1606.08415); `soft_cap(x) = cap ·
//! tanh(x / cap)`. Operand: x f32 [R, C]. Output: f32 [R, C].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Activation functions of feed-forward blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// x · sigmoid(x).
    Silu,
    /// The tanh form of GELU.
    Gelu,
    /// cap · tanh(x / cap).
    SoftCap(f32),
}

impl Activation {
    /// Name in dumps.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Silu => "silu",
            Activation::Gelu => "gelu",
            Activation::SoftCap(_) => "soft_cap",
        }
    }
}

/// Attributes of `unary`.
#[derive(Clone, Debug, PartialEq)]
pub struct Unary {
    /// The function.
    pub function: Activation,
}

impl OpDef for Unary {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("unary", inputs)?;
        check::dtype("unary", x, DType::F32)?;
        Ok(vec![x])
    }

    fn attributes(&self) -> String {
        match self.function {
            Activation::SoftCap(cap) => format!("soft_cap={cap}"),
            Activation::Silu | Activation::Gelu => self.function.name().to_string(),
        }
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}
