//! The builder that architectures write graphs with.

use std::sync::Arc;

use crate::error::Error;
use crate::graph::{Graph, Node, Output, OutputKind, Tables, Value, ValueId};
use crate::op::Op;
use crate::step::{Input, StepShape};
use crate::value::{StateDecl, WeightDecl};
use crate::verify;

/// Appends nodes in execution order. Shape rules are checked as nodes are pushed, so an error names
/// the node that the architecture was writing.
#[derive(Debug)]
pub struct Builder {
    graph: Graph,
    layer: Option<usize>,
}

impl Builder {
    /// An empty graph over a model's declarations.
    pub fn new(weights: Arc<[WeightDecl]>, states: Arc<[StateDecl]>, shape: StepShape) -> Builder {
        let tables = Tables { weights, states, shape };
        let graph = Graph { tables, values: Vec::new(), nodes: Vec::new(), outputs: Vec::new() };
        Builder { graph, layer: None }
    }

    /// Declarations and shape.
    pub fn tables(&self) -> &Tables {
        &self.graph.tables
    }

    /// Shape of the step.
    pub fn shape(&self) -> &StepShape {
        &self.graph.tables.shape
    }

    /// A step input; asking twice gives the same value.
    pub fn input(&mut self, input: Input) -> ValueId {
        if let Some((id, _)) = self.graph.inputs().find(|(_, known)| *known == input) {
            return id;
        }
        let ty = input.tensor_type(self.shape());
        self.graph.values.push(Value { ty, input: Some(input) });
        ValueId(self.graph.values.len() as u32 - 1)
    }

    /// Nodes pushed from here on belong to `layer` (`None`: to the model's ends).
    pub fn layer(&mut self, layer: Option<usize>) {
        self.layer = layer;
    }

    /// Appends a node; gives the values it defines.
    pub fn push(
        &mut self,
        name: impl Into<String>,
        op: impl Into<Op>,
        inputs: &[ValueId],
    ) -> Result<Vec<ValueId>, Error> {
        let (op, inputs, index) = (op.into(), inputs.to_vec(), self.graph.nodes.len());
        let mut node =
            Node { op, inputs, outputs: Vec::new(), layer: self.layer, name: name.into() };
        // Shape rules look up what a node names, so that has to exist first.
        verify::check_declared(&self.graph, index, &node)?;
        verify::check_inputs(index, &node, self.graph.values.len(), |_| true)?;
        let types = node.op.def().infer(&self.graph.types(&node.inputs), &self.graph.tables)?;
        let outputs: Vec<ValueId> = types.into_iter().map(|ty| self.graph.add_value(ty)).collect();
        node.outputs.clone_from(&outputs);
        self.graph.nodes.push(node);
        Ok(outputs)
    }

    /// Appends a node of an op that defines exactly one value.
    pub fn push_one(
        &mut self,
        name: impl Into<String>,
        op: impl Into<Op>,
        inputs: &[ValueId],
    ) -> Result<ValueId, Error> {
        let op = op.into();
        let kind = op.kind().name();
        match self.push(name, op, inputs)?.as_slice() {
            [one] => Ok(*one),
            outputs => Err(Error::Operand {
                op: kind,
                expected: "an op with one output".into(),
                found: format!("{} outputs", outputs.len()),
            }),
        }
    }

    /// Marks a value as read by the host.
    pub fn output(&mut self, kind: OutputKind, value: ValueId) {
        self.graph.outputs.push(Output { kind, value });
    }

    /// The verified graph.
    pub fn finish(self) -> Result<Graph, Error> {
        self.graph.verify()?;
        Ok(self.graph)
    }
}
