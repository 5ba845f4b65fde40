//! `route`: the experts of each token and their weights.
//!
//! Formula: the `used` largest probabilities of each row in falling order (the lower expert first
//! among equals); with `normalize` each is divided by their sum, summed in rank order. Operand:
//! probabilities f32 [T, E]. Outputs: experts i32 [T, used], weights f32 [T, used].

use minfer_quant::DType;

use super::{OpDef, check};
use crate::error::Error;
use crate::graph::Tables;
use crate::value::TensorType;

/// Attributes of `route`.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Experts per token.
    pub used: usize,
    /// Whether the weights are made to sum to one.
    pub normalize: bool,
}

impl OpDef for Route {
    fn infer(&self, inputs: &[TensorType], _tables: &Tables) -> Result<Vec<TensorType>, Error> {
        let [x] = check::operands("route", inputs)?;
        check::dtype("route", x, DType::F32)?;
        if self.used == 0 || self.used > x.cols {
            let found = format!("{} of {x}", self.used);
            return check::fail("route", "between one expert and all of them", found);
        }
        Ok(vec![TensorType::i32(x.rows, self.used), TensorType::f32(x.rows, self.used)])
    }

    fn attributes(&self) -> String {
        format!("used={}, normalize={}", self.used, self.normalize)
    }
}
