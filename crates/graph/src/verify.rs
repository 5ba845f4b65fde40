//! The checks behind [`Graph::verify`].

use crate::error::Error;
use crate::graph::{Graph, Node};
use crate::op::Op;

pub(crate) fn verify(graph: &Graph) -> Result<(), Error> {
    let mut defined: Vec<bool> = graph.values.iter().map(|value| value.input.is_some()).collect();
    let mut stored = vec![false; graph.tables.states.len()];
    for (index, node) in graph.nodes.iter().enumerate() {
        check_declared(graph, index, node)?;
        check_values(graph, index, node, &mut defined)?;
        check_types(graph, index, node)?;
        check_state_order(index, node, &mut stored)?;
    }
    for output in &graph.outputs {
        if !defined.get(output.value.0 as usize).copied().unwrap_or(false) {
            return Err(Error::Undefined {
                node: graph.nodes.len(),
                op: "output",
                value: output.value.0,
            });
        }
    }
    Ok(())
}

fn check_declared(graph: &Graph, node: usize, n: &Node) -> Result<(), Error> {
    let op = n.op.kind().name();
    let weights = n.op.def().weights();
    let count = graph.tables.weights.len();
    if let Some(bad) = weights.iter().find(|id| id.0 as usize >= count) {
        return Err(Error::Undeclared { node, op, what: "weight", id: bad.0, count });
    }
    let count = graph.tables.states.len();
    match n.op.def().state() {
        Some(id) if id.0 as usize >= count => {
            Err(Error::Undeclared { node, op, what: "state", id: id.0, count })
        }
        Some(_) | None => Ok(()),
    }
}

fn check_values(graph: &Graph, node: usize, n: &Node, defined: &mut [bool]) -> Result<(), Error> {
    let op = n.op.kind().name();
    for id in &n.inputs {
        if !defined.get(id.0 as usize).copied().unwrap_or(false) {
            return Err(Error::Undefined { node, op, value: id.0 });
        }
    }
    for id in &n.outputs {
        if id.0 as usize >= graph.values.len() {
            return Err(Error::Undefined { node, op, value: id.0 });
        }
        if std::mem::replace(&mut defined[id.0 as usize], true) {
            return Err(Error::Redefined { node, op, value: id.0 });
        }
    }
    Ok(())
}

fn check_types(graph: &Graph, node: usize, n: &Node) -> Result<(), Error> {
    let expected = n.op.def().infer(&graph.types(&n.inputs), &graph.tables)?;
    let found = graph.types(&n.outputs);
    if expected == found {
        return Ok(());
    }
    let text = |types: &[crate::TensorType]| {
        types.iter().map(|ty| ty.to_string()).collect::<Vec<_>>().join(", ")
    };
    Err(Error::OutputType {
        node,
        op: n.op.kind().name(),
        expected: text(&expected),
        found: text(&found),
    })
}

fn check_state_order(node: usize, n: &Node, stored: &mut [bool]) -> Result<(), Error> {
    if let Some(state) = n.op.def().writes_state() {
        stored[state.0 as usize] = true;
    }
    match &n.op {
        Op::Attention(attention) if !stored[attention.state.0 as usize] => {
            Err(Error::ReadBeforeStore { node, state: attention.state.0 })
        }
        _op => Ok(()),
    }
}
