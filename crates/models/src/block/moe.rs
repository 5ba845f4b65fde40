//! A mixture of experts in place of the feed-forward block.

use minfer_graph::op::expert_combine::ExpertCombine;
use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_graph::op::matmul::Matmul;
use minfer_graph::op::mul::Mul;
use minfer_graph::op::route::Route;
use minfer_graph::op::softmax::Softmax;
use minfer_graph::op::unary::Unary;
use minfer_graph::{Activation, Builder, ValueId, WeightId};

use crate::config::{Config, Experts};
use crate::error::Error;
use crate::weights::Weights;

/// Weights of one layer's experts.
pub(crate) struct Moe {
    experts: Experts,
    router: WeightId,
    gate: WeightId,
    up: WeightId,
    down: WeightId,
}

impl Moe {
    /// Reads the router and the experts' matrices of a layer.
    pub(crate) fn read(
        config: &Config,
        weights: &mut Weights<'_>,
        layer: usize,
        experts: Experts,
    ) -> Result<Moe, Error> {
        let (width, inner, count) = (config.embedding, experts.width, experts.count);
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        Ok(Moe {
            experts,
            router: weights.matrix(name("ffn_gate_inp"), count, width)?,
            gate: weights.experts(name("ffn_gate_exps"), count, inner, width)?,
            up: weights.experts(name("ffn_up_exps"), count, inner, width)?,
            down: weights.experts(name("ffn_down_exps"), count, width, inner)?,
        })
    }

    /// Softmax over all experts, the best of them normalised, and the weighted sum of their
    /// results.
    pub(crate) fn write(
        &self,
        builder: &mut Builder,
        layer: usize,
        x: ValueId,
        function: Activation,
    ) -> Result<ValueId, Error> {
        let name = |part: &str| format!("blk.{layer}.{part}");
        let router = Matmul::new(self.router, None);
        let scores = builder.push_one(name("ffn_router"), router, &[x])?;
        let shares = builder.push_one(name("ffn_router_softmax"), Softmax, &[scores])?;
        let route = Route { used: self.experts.used, normalize: true };
        let routed = builder.push(name("ffn_route"), route, &[shares])?;
        let (chosen, shares) = (routed[0], routed[1]);
        let expert = |weight| ExpertMatmul { weight };
        let gate = builder.push_one(name("ffn_gate_exps"), expert(self.gate), &[x, chosen])?;
        let up = builder.push_one(name("ffn_up_exps"), expert(self.up), &[x, chosen])?;
        let act = builder.push_one(name("ffn_act_exps"), Unary { function }, &[gate])?;
        let gated = builder.push_one(name("ffn_gated_exps"), Mul, &[act, up])?;
        let down = builder.push_one(name("ffn_down_exps"), expert(self.down), &[gated, chosen])?;
        Ok(builder.push_one(name("ffn_combine"), ExpertCombine, &[down, shares])?)
    }
}
