//! The graph itself: nodes in execution order over a table of values.

use std::sync::Arc;

use crate::error::Error;
use crate::op::Op;
use crate::step::{Input, StepShape};
use crate::value::{StateDecl, StateId, TensorType, WeightDecl, WeightId};

/// Index of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Index of a node; also its place in execution order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// What a model declares once for all its graphs, and the shape of this one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// The model's weights.
    pub weights: Arc<[WeightDecl]>,
    /// The model's state.
    pub states: Arc<[StateDecl]>,
    /// Shape of the step.
    pub shape: StepShape,
}

impl Tables {
    /// Declaration of a weight.
    pub fn weight(&self, id: WeightId) -> &WeightDecl {
        &self.weights[id.0 as usize]
    }

    /// Declaration of a state.
    pub fn state(&self, id: StateId) -> &StateDecl {
        &self.states[id.0 as usize]
    }
}

/// A typed value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: TensorType,
    /// The step input it is, if it is one.
    pub input: Option<Input>,
}

/// One application of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The op and its attributes.
    pub op: Op,
    /// Operands, in the op's order.
    pub inputs: Vec<ValueId>,
    /// Values it defines.
    pub outputs: Vec<ValueId>,
    /// Layer it belongs to; `None` before the first and after the last.
    pub layer: Option<usize>,
    /// Name for dumps and traces, such as `blk.3.attn_norm`.
    pub name: String,
}

/// What an output is to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputKind {
    /// f32 logits, one row per output row.
    Logits,
    /// i32 ids, the largest first.
    Ids,
    /// f32 logits of those ids.
    IdLogits,
}

/// A value that the host reads after the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// What it is.
    pub kind: OutputKind,
    /// The value.
    pub value: ValueId,
}

/// A pure description of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Weights, state and shape.
    pub tables: Tables,
    /// All values, inputs first.
    pub values: Vec<Value>,
    /// Nodes in execution order.
    pub nodes: Vec<Node>,
    /// Values read by the host.
    pub outputs: Vec<Output>,
}

impl Graph {
    /// A value's type.
    pub fn ty(&self, id: ValueId) -> TensorType {
        self.values[id.0 as usize].ty
    }

    /// Types of a list of values.
    pub fn types(&self, ids: &[ValueId]) -> Vec<TensorType> {
        ids.iter().map(|&id| self.ty(id)).collect()
    }

    /// The inputs, in value order.
    pub fn inputs(&self) -> impl Iterator<Item = (ValueId, Input)> + '_ {
        self.values
            .iter()
            .enumerate()
            .filter_map(|(i, value)| value.input.map(|input| (ValueId(i as u32), input)))
    }

    /// For each value, how many times a node reads it or the host does.
    pub fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.values.len()];
        let by_nodes = self.nodes.iter().flat_map(|node| node.inputs.iter().copied());
        for id in by_nodes.chain(self.outputs.iter().map(|output| output.value)) {
            uses[id.0 as usize] += 1;
        }
        uses
    }

    /// For each value, the node that defines it.
    pub fn producers(&self) -> Vec<Option<NodeId>> {
        let mut producers = vec![None; self.values.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            for id in &node.outputs {
                producers[id.0 as usize] = Some(NodeId(i as u32));
            }
        }
        producers
    }

    /// Adds a value of type `ty`.
    pub fn add_value(&mut self, ty: TensorType) -> ValueId {
        self.values.push(Value { ty, input: None });
        ValueId(self.values.len() as u32 - 1)
    }

    /// Checks everything that a graph promises; passes call it after each change.
    pub fn verify(&self) -> Result<(), Error> {
        crate::verify::verify(self)
    }

    /// The stable text form, one line a node.
    pub fn dump(&self) -> String {
        crate::dump::dump(self)
    }

    /// The graph in Graphviz's DOT language.
    pub fn to_dot(&self) -> String {
        crate::export::dot(self)
    }

    /// The graph as JSON.
    pub fn to_json(&self) -> String {
        crate::export::json(self)
    }
}
