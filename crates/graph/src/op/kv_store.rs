//! `kv_store`: writes the step's K and V rows to the cache, converted to its types.
//!
//! Row t of K and V goes to page `slots[t] / 32`, position `slots[t] % 32`, head by head. f16 and
//! bf16 round to nearest even; q8_0 takes blocks of 32 within a head: `scale = f16(max |x| / 127)`,
//! `q = round_ties_even(x / scale)` clamped to ±127, with the rounded scale (all zero where the
//! scale is). Operands: k, v f32 [T, kv_heads · head_dim], slots i32 [T, 1]. No output: it writes
//! state.

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::{Rows, StateId, TensorType};

/// Attributes of `kv_store`.
#[derive(Clone, Debug, PartialEq)]
pub struct KvStore {
    /// The layer's cache.
    pub state: StateId,
}

impl OpDef for KvStore {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [k, v, slots] = check::operands("kv_store", inputs)?;
        let (_group, kv_heads, head_dim) = check::paged("kv_store", tables, self.state)?;
        check::dtype("kv_store", k, DType::F32)?;
        check::equal("kv_store", k, v)?;
        check::cols("kv_store", k, kv_heads * head_dim)?;
        check::index("kv_store", slots, Rows::TOKENS, 1)?;
        Ok(Vec::new())
    }

    fn state(&self) -> Option<StateId> {
        Some(self.state)
    }

    fn writes_state(&self) -> Option<StateId> {
        Some(self.state)
    }
}
