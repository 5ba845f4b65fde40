//! `rope`: rotary position embedding (Su et al., arXiv:2104.09864).
//!
//! Formula: pair i of each head is turned by the angle `position · frequencies[i]` and scaled by
//! `magnitude`: `(a, b) → magnitude · (a cos − b sin, b cos + a sin)`. Interleaved pairs are
//! columns (2i, 2i + 1), half-split pairs are (i, i + n) with n pairs; columns past 2n stay as they
//! are. Angles are f64, their sine and cosine rounded to f32. Linear, llama3 and yarn scaling are
//! already in the frequencies (and yarn's attention factor in the magnitude), so that a device
//! needs one kernel for all. Operands: x f32 [T, H · head_dim], positions i32 [T, 1]. Output: f32
//! [T, H · head_dim].

use std::sync::Arc;

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::{Rows, TensorType};

/// Which columns of a head form a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Columns (2i, 2i + 1).
    Interleaved,
    /// Columns (i, i + n).
    HalfSplit,
}

/// Attributes of `rope`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Elements of a head.
    pub head_dim: usize,
    /// Which columns form a pair.
    pub pairs: Pairs,
    /// Radians per position, one for each pair.
    pub frequencies: Arc<[f64]>,
    /// Factor on the turned pairs.
    pub magnitude: f32,
}

impl Rope {
    pub(crate) fn check(
        &self,
        op: &'static str,
        x: TensorType,
        positions: TensorType,
    ) -> Result<(), Error> {
        check::dtype(op, x, DType::F32)?;
        check::index(op, positions, Rows::TOKENS, 1)?;
        let whole_heads = self.head_dim > 0 && x.cols.is_multiple_of(self.head_dim);
        if !whole_heads || x.rows != Rows::TOKENS || self.frequencies.len() * 2 > self.head_dim {
            let expected = format!(
                "token rows of heads of {} with at most {} pairs",
                self.head_dim,
                self.head_dim / 2
            );
            return check::fail(op, expected, format!("{x}, {} pairs", self.frequencies.len()));
        }
        Ok(())
    }
}

impl OpDef for Rope {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x, positions] = check::operands("rope", inputs)?;
        self.check("rope", x, positions)?;
        Ok(vec![x])
    }

    fn attributes(&self) -> String {
        let layout = match self.pairs {
            Pairs::Interleaved => "interleaved",
            Pairs::HalfSplit => "half_split",
        };
        let last = self.frequencies.last().copied().unwrap_or(0.0);
        format!(
            "{layout}, head_dim={}, pairs={}, slowest={last:.6e}, magnitude={}",
            self.head_dim,
            self.frequencies.len(),
            self.magnitude
        )
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}
