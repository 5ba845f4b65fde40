//! The final norm and the output matrix, and what the host reads of them.

use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::matmul::Matmul;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::top_k::TopK;
use minfer_graph::{Builder, OutputKind, ValueId, Want, WeightId};

use crate::config::Config;
use crate::error::Error;
use crate::weights::Weights;

/// Weights of the model's end.
pub(crate) struct Head {
    norm: WeightId,
    output: WeightId,
    eps: f32,
}

impl Head {
    /// `output.weight`, or the embedding matrix where the file has none.
    pub(crate) fn read(
        config: &Config,
        weights: &mut Weights<'_>,
        embedding: WeightId,
    ) -> Result<Head, Error> {
        let norm = weights.vector("output_norm.weight", config.embedding)?;
        let output = if weights.has("output.weight") {
            weights.matrix("output.weight", config.vocabulary, config.embedding)?
        } else {
            embedding
        };
        Ok(Head { norm, output, eps: config.eps })
    }

    /// Norm, logits, and what the step's shape wants of them.
    pub(crate) fn write(&self, builder: &mut Builder, rows: ValueId) -> Result<(), Error> {
        let norm = RmsNorm { weight: self.norm, eps: self.eps };
        let normed = builder.push_one("output_norm", norm, &[rows])?;
        let mut output = Matmul::new(self.output, None);
        // Logits are where a rounded activation is seen at once.
        output.fine = true;
        let logits = builder.push_one("output", output, &[normed])?;
        match builder.shape().want {
            Want::Logits => builder.output(OutputKind::Logits, logits),
            Want::Argmax | Want::LogitsAndId => {
                if builder.shape().want == Want::LogitsAndId {
                    builder.output(OutputKind::Logits, logits);
                }
                let id = builder.push_one("argmax", Argmax, &[logits])?;
                builder.output(OutputKind::Ids, id);
            }
            Want::TopK(k) => {
                let top = builder.push("top_k", TopK { k }, &[logits])?;
                builder.output(OutputKind::Ids, top[0]);
                builder.output(OutputKind::IdLogits, top[1]);
            }
        }
        Ok(())
    }
}
