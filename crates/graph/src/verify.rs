//! The checks behind [`Graph::verify`].

use minfer_quant::DType;

use crate::error::Error;
use crate::graph::{Graph, Node, Output, OutputKind};
use crate::op::{Op, check};

pub(crate) fn verify(graph: &Graph) -> Result<(), Error> {
    let mut defined: Vec<bool> = graph.values.iter().map(|value| value.input.is_some()).collect();
    let mut stored = vec![false; graph.tables.states.len()];
    for (index, node) in graph.nodes.iter().enumerate() {
        check_declared(graph, index, node)?;
        check_values(graph, index, node, &mut defined)?;
        check_types(graph, index, node)?;
        check_state_order(index, node, &mut stored)?;
    }
    graph.outputs.iter().try_for_each(|output| check_output(graph, *output, &defined))
}

/// An output is a defined value of the type that its kind promises to the host.
fn check_output(graph: &Graph, output: Output, defined: &[bool]) -> Result<(), Error> {
    let Output { kind, value } = output;
    if !defined.get(value.0 as usize).copied().unwrap_or(false) {
        return Err(Error::Undefined { node: graph.nodes.len(), op: "output", value: value.0 });
    }
    let dtype = match kind {
        OutputKind::Logits | OutputKind::IdLogits => DType::F32,
        OutputKind::Ids => DType::I32,
    };
    check::dtype("output", graph.ty(value), dtype)
}

/// The weights and the state that a node names are declared.
pub(crate) fn check_declared(graph: &Graph, node: usize, n: &Node) -> Result<(), Error> {
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

/// The values that a node reads exist and are defined.
pub(crate) fn check_inputs(
    node: usize,
    n: &Node,
    values: usize,
    defined: impl Fn(usize) -> bool,
) -> Result<(), Error> {
    let op = n.op.kind().name();
    match n.inputs.iter().find(|id| id.0 as usize >= values || !defined(id.0 as usize)) {
        Some(id) => Err(Error::Undefined { node, op, value: id.0 }),
        None => Ok(()),
    }
}

fn check_values(graph: &Graph, node: usize, n: &Node, defined: &mut [bool]) -> Result<(), Error> {
    let op = n.op.kind().name();
    check_inputs(node, n, defined.len(), |value| defined[value])?;
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
