//! `embed`: rows of the embedding matrix, decoded to f32.
//!
//! Formula: `y[t] = W[ids[t]]`. Operands: ids i32 [T, 1]. Output: f32 [T, cols of W].

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::step::Counts;
use crate::value::{Rows, TensorType, WeightId};

/// Attributes of `embed`.
#[derive(Clone, Debug, PartialEq)]
pub struct Embed {
    /// The embedding matrix, one row per token of the vocabulary.
    pub weight: WeightId,
}

impl Embed {
    /// Bytes of the rows that a step reads.
    pub(crate) fn bytes_read(&self, tables: &Tables, counts: &Counts) -> u64 {
        let weight = tables.weight(self.weight);
        (weight.bytes() / weight.rows.max(1) * counts.tokens) as u64
    }
}

impl OpDef for Embed {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [ids] = check::operands("embed", inputs)?;
        check::index("embed", ids, Rows::TOKENS, 1)?;
        Ok(vec![TensorType::f32(Rows::TOKENS, tables.weight(self.weight).cols)])
    }

    fn weights(&self) -> Vec<WeightId> {
        vec![self.weight]
    }
}
