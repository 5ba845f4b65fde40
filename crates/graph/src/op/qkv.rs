//! `qkv`: everything between the attention norm and attention itself.
//!
//! Formula: q, k, v by `matmul_group`, of the activations or of their `rms_norm`; q and k through
//! `qk_norm` where the model has it; both through `rope`; k and v into the cache by `kv_store`.
//! Operands: the activations (once per type; one in f32 where they are still to be normed),
//! positions i32 [T, 1], slots i32 [T, 1]. Output: q f32 [T, heads · head_dim]. Composite, with the
//! same roundings.

use super::kv_store::KvStore;
use super::matmul::{Member, member_weights};
use super::matmul_group::{MatmulGroup, check_norm, check_operands, operand_text};
use super::qk_norm::QkNorm;
use super::rms_norm::RmsNorm;
use super::rope::Rope;
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::step::Counts;
use crate::value::{Rows, StateId, TensorType, WeightId};

/// Attributes of `qkv`.
#[derive(Clone, Debug, PartialEq)]
pub struct Qkv {
    /// The matrices of q, k and v, in this order.
    pub members: Vec<Member>,
    /// Norm of the activations, where it is taken in.
    pub input_norm: Option<RmsNorm>,
    /// Norms of q and k.
    pub norms: Option<[QkNorm; 2]>,
    /// Rotation of q and k.
    pub rope: Rope,
    /// The layer's cache.
    pub state: StateId,
}

impl OpDef for Qkv {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [activations @ .., positions, slots] = inputs else {
            return check::fail("qkv", "activations, positions and slots", "fewer operands");
        };
        check_operands("qkv", activations)?;
        check_norm("qkv", self.input_norm.as_ref(), activations, tables)?;
        let [q, k, v] = self.members.as_slice() else {
            return check::fail("qkv", "3 members", self.members.len().to_string());
        };
        let q = q.infer("qkv", activations, tables)?;
        let k = k.infer("qkv", activations, tables)?;
        check::equal("qkv", k, v.infer("qkv", activations, tables)?)?;
        self.rope.check("qkv", q, *positions)?;
        self.rope.check("qkv", k, *positions)?;
        for (norm, x) in self.norms.iter().flatten().zip([q, k]) {
            norm.infer(&[x], tables)?;
        }
        let (_group, kv_heads, head_dim) = check::paged("qkv", tables, self.state)?;
        check::cols("qkv", k, kv_heads * head_dim)?;
        check::index("qkv", *slots, Rows::TOKENS, 1)?;
        Ok(vec![q])
    }

    fn weights(&self) -> Vec<WeightId> {
        let mut weights: Vec<WeightId> = self.input_norm.iter().map(|norm| norm.weight).collect();
        weights.extend(member_weights(&self.members));
        weights.extend(self.norms.iter().flatten().map(|norm| norm.weight));
        weights
    }

    fn state(&self) -> Option<StateId> {
        Some(self.state)
    }

    fn writes_state(&self) -> Option<StateId> {
        Some(self.state)
    }

    fn attributes(&self) -> String {
        let norm = self.input_norm.iter().map(RmsNorm::attributes);
        let parts = norm.chain([operand_text(&self.members), self.rope.attributes()]);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    fn macs(&self, inputs: &[TensorType], tables: &Tables, counts: &Counts) -> u64 {
        self.members.iter().map(|m| m.macs(inputs, tables, counts)).sum()
    }

    fn decompose(
        &self,
        rewrite: &mut Rewrite<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<bool, Error> {
        let [activations @ .., positions, slots] = inputs else {
            return check::fail("qkv", "activations, positions and slots", "fewer operands");
        };
        if let Some(norm) = &self.input_norm {
            let normed = rewrite.emit("norm", norm.clone(), activations)?;
            let rest = Qkv { input_norm: None, ..self.clone() };
            rewrite.emit_into("qkv", rest, &[normed[0], *positions, *slots], outputs);
            return Ok(true);
        }
        let group = MatmulGroup { members: self.members.clone() };
        let projected = rewrite.emit("matmul", group, activations)?;
        let [mut q, mut k, v] = projected[..] else {
            return check::fail("qkv", "3 members", self.members.len().to_string());
        };
        if let Some([q_norm, k_norm]) = &self.norms {
            q = rewrite.emit("q_norm", q_norm.clone(), &[q])?[0];
            k = rewrite.emit("k_norm", k_norm.clone(), &[k])?[0];
        }
        rewrite.emit_into("q_rope", self.rope.clone(), &[q, *positions], outputs);
        let k = rewrite.emit("k_rope", self.rope.clone(), &[k, *positions])?[0];
        rewrite.emit_into("store", KvStore { state: self.state }, &[k, v, *slots], &[]);
        Ok(true)
    }
}
