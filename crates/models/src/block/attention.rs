//! The attention block: projections, rope, cache and attention itself.

use minfer_graph::op::attention::Attention;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::rope::Rope;
use minfer_graph::{Builder, Input, KvTypes, StateDecl, StateId, ValueId, WeightId};

use crate::config::Config;
use crate::error::Error;
use crate::weights::Weights;

/// Weights of one layer's attention.
pub(crate) struct Attn {
    /// q, k and v, with biases where the file has them.
    qkv: [(WeightId, Option<WeightId>); 3],
    /// Norms of q and k.
    norms: Option<[WeightId; 2]>,
    output: WeightId,
}

impl Attn {
    /// Reads `attn_q`, `attn_k`, `attn_v` and `attn_output` of a layer.
    pub(crate) fn read(
        config: &Config,
        weights: &mut Weights<'_>,
        layer: usize,
    ) -> Result<Attn, Error> {
        let kv_width = config.kv_heads * config.head_dim;
        let width = config.heads * config.head_dim;
        let mut projection = |name: &str, rows: usize| {
            let weight = format!("blk.{layer}.{name}.weight");
            let weight = weights.matrix(weight, rows, config.embedding)?;
            let bias = format!("blk.{layer}.{name}.bias");
            let bias = if weights.has(&bias) { Some(weights.vector(bias, rows)?) } else { None };
            Ok::<_, Error>((weight, bias))
        };
        let qkv = [
            projection("attn_q", width)?,
            projection("attn_k", kv_width)?,
            projection("attn_v", kv_width)?,
        ];
        let output =
            weights.matrix(format!("blk.{layer}.attn_output.weight"), config.embedding, width)?;
        Ok(Attn { qkv, norms: None, output })
    }

    /// Reads the norms of q and k too.
    pub(crate) fn with_norms(
        self,
        config: &Config,
        weights: &mut Weights<'_>,
        layer: usize,
    ) -> Result<Attn, Error> {
        let mut norm =
            |name: &str| weights.vector(format!("blk.{layer}.{name}.weight"), config.head_dim);
        let norms = Some([norm("attn_q_norm")?, norm("attn_k_norm")?]);
        Ok(Attn { norms, ..self })
    }

    /// From normed activations to the block's result. `scale` is the factor on q·k.
    pub(crate) fn write(
        &self,
        config: &Config,
        builder: &mut Builder,
        layer: usize,
        x: ValueId,
        rope: &Rope,
        scale: f32,
    ) -> Result<ValueId, Error> {
        let name = |part: &str| format!("blk.{layer}.{part}");
        let positions = builder.input(Input::Positions);
        let members = self.qkv.map(|(weight, bias)| Member::new(weight, bias)).to_vec();
        let qkv = builder.push(name("attn_qkv"), MatmulGroup { members }, &[x])?;
        let (mut q, mut k, v) = (qkv[0], qkv[1], qkv[2]);
        if let Some([q_weight, k_weight]) = self.norms {
            let norm = |weight| QkNorm { weight, eps: config.eps, head_dim: config.head_dim };
            q = builder.push_one(name("attn_q_norm"), norm(q_weight), &[q])?;
            k = builder.push_one(name("attn_k_norm"), norm(k_weight), &[k])?;
        }
        let q = builder.push_one(name("rope_q"), rope.clone(), &[q, positions])?;
        let k = builder.push_one(name("rope_k"), rope.clone(), &[k, positions])?;
        let state = StateId(layer as u32);
        let group = group_of(builder, state);
        let slots = builder.input(Input::Slots { group });
        builder.push(name("kv_store"), KvStore { state }, &[k, v, slots])?;
        let pages = builder.input(Input::Pages { group });
        let work = builder.input(Input::Work { group });
        let attention =
            Attention { state, heads: config.heads, scale, soft_cap: None, sinks: None };
        let mixed = builder.push_one(name("attn"), attention, &[q, positions, pages, work])?;
        let output = Matmul::new(self.output, None);
        Ok(builder.push_one(name("attn_output"), output, &[mixed])?)
    }
}

/// Factor on q·k for heads of `head_dim`.
pub(crate) fn scale(head_dim: usize) -> f32 {
    (1.0 / (head_dim as f64).sqrt()) as f32
}

/// One paged cache per layer; layers with and without a window form two groups.
pub(crate) fn states(config: &Config, kv: KvTypes) -> Vec<StateDecl> {
    let mut windows: Vec<Option<usize>> = Vec::new();
    (0..config.layers)
        .map(|layer| {
            let window = config.window.filter(|w| w.applies(layer)).map(|w| w.size);
            let group = windows.iter().position(|w| *w == window).unwrap_or_else(|| {
                windows.push(window);
                windows.len() - 1
            });
            StateDecl::Paged {
                group,
                layer,
                kv_heads: config.kv_heads,
                head_dim: config.head_dim,
                key: kv.key,
                value: kv.value,
                window,
            }
        })
        .collect()
}

fn group_of(builder: &Builder, state: StateId) -> usize {
    match builder.tables().state(state) {
        StateDecl::Paged { group, .. } => *group,
        StateDecl::PerSequence { .. } => 0,
    }
}
