//! The gated feed-forward block.

use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::mul::Mul;
use minfer_graph::op::unary::Unary;
use minfer_graph::{Activation, Builder, ValueId, WeightId};

use crate::config::Config;
use crate::error::Error;
use crate::weights::Weights;

/// Weights of one layer's feed-forward block.
pub(crate) struct Ffn {
    gate: WeightId,
    up: WeightId,
    down: WeightId,
}

impl Ffn {
    /// Reads `ffn_gate`, `ffn_up` and `ffn_down` of a layer.
    pub(crate) fn read(
        config: &Config,
        weights: &mut Weights<'_>,
        layer: usize,
    ) -> Result<Ffn, Error> {
        let (width, inner) = (config.embedding, config.feed_forward);
        let mut matrix = |name: &str, rows, cols| {
            weights.matrix(format!("blk.{layer}.{name}.weight"), rows, cols)
        };
        let gate = matrix("ffn_gate", inner, width)?;
        let up = matrix("ffn_up", inner, width)?;
        let down = matrix("ffn_down", width, inner)?;
        Ok(Ffn { gate, up, down })
    }

    /// `down(function(gate x) · up x)`.
    pub(crate) fn write(
        &self,
        builder: &mut Builder,
        layer: usize,
        x: ValueId,
        function: Activation,
    ) -> Result<ValueId, Error> {
        let name = |part: &str| format!("blk.{layer}.{part}");
        let members = vec![Member::new(self.gate, None), Member::new(self.up, None)];
        let both = builder.push(name("ffn_gate_up"), MatmulGroup { members }, &[x])?;
        let act = builder.push_one(name("ffn_act"), Unary { function }, &[both[0]])?;
        let gated = builder.push_one(name("ffn_gated"), Mul, &[act, both[1]])?;
        let down = Matmul::new(self.down, None);
        Ok(builder.push_one(name("ffn_down"), down, &[gated])?)
    }
}
