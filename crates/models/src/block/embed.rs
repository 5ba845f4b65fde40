//! The embedding of the step's tokens.

use minfer_graph::op::embed::Embed;
use minfer_graph::{Builder, Input, ValueId, WeightId};

use crate::error::Error;

/// Rows of the embedding matrix, one per token of the step.
pub(crate) fn embed(builder: &mut Builder, weight: WeightId) -> Result<ValueId, Error> {
    let tokens = builder.input(Input::Tokens);
    Ok(builder.push_one("token_embd", Embed { weight }, &[tokens])?)
}
