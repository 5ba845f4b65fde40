//! Rewriting one node into several: how composites become primitives.

use crate::error::Error;
use crate::graph::{Graph, Node, ValueId};
use crate::op::Op;

/// Collects the nodes that replace one node. Values are added to the graph as they are needed; the
/// replaced node's outputs are defined by [`Rewrite::emit_into`].
#[derive(Debug)]
pub struct Rewrite<'a> {
    graph: &'a mut Graph,
    layer: Option<usize>,
    name: String,
    nodes: Vec<Node>,
}

impl<'a> Rewrite<'a> {
    /// Replaces `node` by its op's decomposition, or fails if the op is a primitive.
    pub fn decompose(graph: &'a mut Graph, node: &Node) -> Result<Vec<Node>, Error> {
        let name = node.name.clone();
        let mut rewrite = Rewrite { graph, layer: node.layer, name, nodes: Vec::new() };
        if node.op.def().decompose(&mut rewrite, &node.inputs, &node.outputs)? {
            Ok(rewrite.nodes)
        } else {
            Err(Error::Primitive { op: node.op.kind().name() })
        }
    }

    /// Adds a node and the values it defines.
    pub fn emit(
        &mut self,
        suffix: &str,
        op: impl Into<Op>,
        inputs: &[ValueId],
    ) -> Result<Vec<ValueId>, Error> {
        let op = op.into();
        let types = op.def().infer(&self.graph.types(inputs), &self.graph.tables)?;
        let outputs: Vec<ValueId> = types.into_iter().map(|ty| self.graph.add_value(ty)).collect();
        self.emit_into(suffix, op, inputs, &outputs);
        Ok(outputs)
    }

    /// Adds a node that defines the given values.
    pub fn emit_into(
        &mut self,
        suffix: &str,
        op: impl Into<Op>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) {
        self.nodes.push(Node {
            op: op.into(),
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            layer: self.layer,
            name: format!("{}.{suffix}", self.name),
        });
    }
}
