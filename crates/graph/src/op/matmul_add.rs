//! `matmul_add`: a product added to what came before it, as at the end of a block.
//!
//! Formula: `y[r, n] = (Σ_k x[r, k] · W[n, k] + b[n]) + residual[r, n]`. Operands: the activations
//! as `matmul` takes them, residual f32 [R, N]. Output: f32 [R, N]. Composite of `matmul` and
//! `add`, with the same roundings.

use super::add::Add;
use super::matmul::{Matmul, Member, member_weights};
use super::{OpDef, check};
use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::rewrite::Rewrite;
use crate::step::Counts;
use crate::value::{TensorType, WeightId};

/// Attributes of `matmul_add`.
#[derive(Clone, Debug, PartialEq)]
pub struct MatmulAdd {
    /// The matrix.
    pub weight: WeightId,
    /// Added to each row of the product.
    pub bias: Option<WeightId>,
}

impl MatmulAdd {
    fn member(&self) -> Member {
        Member::new(self.weight, self.bias)
    }
}

impl OpDef for MatmulAdd {
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [_x, residual] = check::operands("matmul_add", inputs)?;
        let product = self.member().infer("matmul_add", inputs, tables)?;
        check::equal("matmul_add", product, residual)?;
        Ok(vec![product])
    }

    fn weights(&self) -> Vec<WeightId> {
        member_weights(&[self.member()])
    }

    fn in_place(&self) -> Option<usize> {
        Some(1)
    }

    fn macs(&self, inputs: &[TensorType], tables: &Tables, counts: &Counts) -> u64 {
        self.member().macs(inputs, tables, counts)
    }

    fn decompose(
        &self,
        rewrite: &mut Rewrite<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<bool, Error> {
        let &[x, residual] = inputs else {
            return check::fail("matmul_add", "2 operands", inputs.len().to_string());
        };
        let product = rewrite.emit("matmul", Matmul::new(self.weight, self.bias), &[x])?;
        rewrite.emit_into("add", Add, &[product[0], residual], outputs);
        Ok(true)
    }
}
