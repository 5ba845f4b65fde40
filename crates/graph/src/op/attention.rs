//! `attention`: scaled dot-product attention over the paged cache (Vaswani et al.,
//! arXiv:1706.03762), with grouped K/V heads, a causal mask, an optional sliding window, soft cap
//! and sinks.
//!
//! Formula, for the query of head h at position p, K/V head `h / (heads / kv_heads)` and positions
//! j with `max(0, p − window + 1) ≤ j ≤ p`: `s_j = cap(scale · q·k_j)`, `y = Σ e^(s_j − m) v_j / (Σ
//! e^(s_j − m) + e^(sink_h − m))` with m the maximum of all s_j and sink_h; `cap(s) = c · tanh(s /
//! c)`; without sinks their term is absent. The order of roundings (tiles of a page, partitions of
//! 512) is in docs/numerics.md. Operands: q f32 [T, heads · head_dim], positions i32 [T, 1], pages
//! i32 [S, P], work i32 [W, 6]. Output: f32 [T, heads · head_dim]. Rows that no work item covers
//! are left undefined.

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::step::{Counts, WORK_FIELDS};
use crate::value::{Rows, StateDecl, StateId, TensorType, WeightId};

/// Attributes of `attention`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The layer's cache: K/V heads, head size, types and window.
    pub state: StateId,
    /// Query heads.
    pub heads: usize,
    /// Factor on q·k.
    pub scale: f32,
    /// Soft cap on the scores.
    pub soft_cap: Option<f32>,
    /// One extra score per query head that takes part in the sum alone.
    pub sinks: Option<WeightId>,
}

impl OpDef for Attention {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [q, positions, pages, work] = check::operands("attention", inputs)?;
        let (_group, kv_heads, head_dim) = check::paged("attention", tables, self.state)?;
        check::dtype("attention", q, DType::F32)?;
        check::cols("attention", q, self.heads * head_dim)?;
        if kv_heads == 0 || !self.heads.is_multiple_of(kv_heads) || q.rows != Rows::TOKENS {
            return check::fail(
                "attention",
                format!("token rows and query heads in groups of {kv_heads} K/V heads"),
                format!("{} heads, {q}", self.heads),
            );
        }
        check::index("attention", positions, Rows::TOKENS, 1)?;
        let shape = &tables.shape;
        check::index("attention", pages, Rows::Fixed(shape.sequences), shape.pages)?;
        check::index("attention", work, Rows::Fixed(shape.work), WORK_FIELDS)?;
        if let Some(sinks) = self.sinks {
            check::vector("attention", tables, sinks, self.heads)?;
        }
        Ok(vec![q])
    }

    fn weights(&self) -> Vec<WeightId> {
        self.sinks.into_iter().collect()
    }

    fn state(&self) -> Option<StateId> {
        Some(self.state)
    }

    fn attributes(&self) -> String {
        let cap = self.soft_cap.map_or(String::new(), |cap| format!(", soft_cap={cap}"));
        format!("heads={}, scale={}{cap}", self.heads, self.scale)
    }

    /// Per row, as if it saw one partition: how deep the cache is is data.
    fn macs(&self, inputs: &[TensorType], tables: &Tables, counts: &Counts) -> u64 {
        let window = match tables.state(self.state) {
            StateDecl::Paged { window, .. } => window.unwrap_or(crate::PARTITION_POSITIONS),
            StateDecl::PerSequence { .. } => 0,
        };
        // A file may claim a window of any width.
        let products = (2 * inputs[0].cols * inputs[0].rows.live(counts)) as u64;
        products.saturating_mul(window as u64)
    }
}
