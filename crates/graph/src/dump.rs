//! The stable text form of a graph, made for snapshots and for people.

use std::fmt;

use crate::graph::{Graph, ValueId};
use crate::value::{Rows, TensorType};

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rows::Tokens { per: 1 } => write!(f, "T"),
            Rows::Tokens { per } => write!(f, "T*{per}"),
            Rows::Outputs { per: 1 } => write!(f, "O"),
            Rows::Outputs { per } => write!(f, "O*{per}"),
            Rows::Fixed(rows) => write!(f, "{rows}"),
        }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{},{}]", self.dtype.name(), self.rows, self.cols)
    }
}

pub(crate) fn dump(graph: &Graph) -> String {
    let shape = &graph.tables.shape;
    let mut text = format!(
        "graph tokens={} outputs={} kv={}/{} nodes={}\n",
        shape.tokens,
        shape.outputs,
        shape.kv.key.name(),
        shape.kv.value.name(),
        graph.nodes.len()
    );
    for (id, input) in graph.inputs() {
        text += &format!("%{} = input {} : {}\n", id.0, input.name(), graph.ty(id));
    }
    for node in &graph.nodes {
        let operands = list(&node.inputs);
        let attributes = attributes(graph, node);
        if node.outputs.is_empty() {
            text +=
                &format!("{}({operands}){attributes}  # {}\n", node.op.kind().name(), node.name);
            continue;
        }
        let types: Vec<String> = graph.types(&node.outputs).iter().map(|t| t.to_string()).collect();
        text += &format!(
            "{} = {}({operands}){attributes} : {}  # {}\n",
            list(&node.outputs),
            node.op.kind().name(),
            types.join(", "),
            node.name
        );
    }
    for output in &graph.outputs {
        text += &format!("output {:?} %{}\n", output.kind, output.value.0);
    }
    text
}

pub(crate) fn attributes(graph: &Graph, node: &crate::Node) -> String {
    let def = node.op.def();
    let mut parts = Vec::new();
    for id in def.weights() {
        let weight = graph.tables.weight(id);
        parts.push(format!("{}:{}", weight.name, weight.quant.name()));
    }
    if let Some(state) = def.state() {
        parts.push(format!("state.{}", state.0));
    }
    let own = def.attributes();
    if !own.is_empty() {
        parts.push(own);
    }
    if parts.is_empty() { String::new() } else { format!(" {{{}}}", parts.join(", ")) }
}

fn list(ids: &[ValueId]) -> String {
    ids.iter().map(|id| format!("%{}", id.0)).collect::<Vec<_>>().join(", ")
}
