//! Every promise of a graph, broken.

use minfer_graph::op::add::Add;
use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::attention::Attention;
use minfer_graph::op::embed::Embed;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::op::matmul::Matmul;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::{Error, Graph, Input, Output, OutputKind, StateId, ValueId, WeightId};

use crate::world::*;

/// Embedding, a norm, K and V into the cache, attention of the embedding, the best column.
fn graph() -> Graph {
    let mut b = builder();
    let ids = b.input(Input::Tokens);
    let positions = b.input(Input::Positions);
    let x = b.push_one("embed", Embed { weight: EMBED }, &[ids]).unwrap();
    let y = b.push_one("norm", RmsNorm { weight: NORM, eps: 1e-5 }, &[x]).unwrap();
    let k = b.push_one("k", Matmul::new(K, None), &[y]).unwrap();
    let v = b.push_one("v", Matmul::new(V, None), &[y]).unwrap();
    let slots = b.input(Input::Slots { group: 0 });
    b.push("store", KvStore { state: CACHE }, &[k, v, slots]).unwrap();
    let pages = b.input(Input::Pages { group: 0 });
    let work = b.input(Input::Work { group: 0 });
    let op = Attention { state: CACHE, heads: 8, scale: 0.5, soft_cap: None, sinks: None };
    let z = b.push_one("attention", op, &[y, positions, pages, work]).unwrap();
    let best = b.push_one("best", Argmax, &[z]).unwrap();
    b.output(OutputKind::Ids, best);
    b.finish().unwrap()
}

fn position(graph: &Graph, name: &str) -> usize {
    graph.nodes.iter().position(|node| node.name == name).unwrap()
}

fn broken(change: impl FnOnce(&mut Graph)) -> Error {
    let mut graph = graph();
    assert_eq!(graph.verify(), Ok(()));
    change(&mut graph);
    graph.verify().unwrap_err()
}

#[test]
fn a_value_is_defined_before_it_is_used() {
    let error = broken(|g| g.nodes.swap(0, 1));
    assert_eq!(error, Error::Undefined { node: 0, op: "rms_norm", value: 2 });
    let error = broken(|g| g.nodes[1].inputs = vec![ValueId(99)]);
    assert_eq!(error.to_string(), "node 1 (rms_norm) uses value 99, which no earlier node defines");
    let error = broken(|g| g.nodes[1].outputs = vec![ValueId(99)]);
    assert_eq!(error, Error::Undefined { node: 1, op: "rms_norm", value: 99 });
}

#[test]
fn a_value_is_defined_once() {
    let error = broken(|g| {
        let again = g.nodes[1].clone();
        g.nodes.push(again);
    });
    assert_eq!(error, Error::Redefined { node: 7, op: "rms_norm", value: 3 });
    assert_eq!(error.to_string(), "node 7 (rms_norm) defines value 3, which is already defined");
    let error = broken(|g| g.nodes[0].outputs = vec![ValueId(0)]);
    assert_eq!(error, Error::Redefined { node: 0, op: "embed", value: 0 });
}

#[test]
fn outputs_have_the_types_that_the_op_gives() {
    let error = broken(|g| g.values[3].ty.cols = 128);
    let text = "node 1 (rms_norm): the op gives f32[T,256], the graph says f32[T,128]";
    assert_eq!(error.to_string(), text);
    let error = broken(|g| g.nodes[1].outputs.clear());
    assert!(matches!(error, Error::OutputType { node: 1, .. }), "{error}");
}

#[test]
fn operands_fit_the_op() {
    let error = broken(|g| {
        let (node, x) = (&mut g.nodes[1], ValueId(2));
        (node.op, node.inputs) = (Add.into(), vec![x, ValueId(0)]);
    });
    assert!(matches!(error, Error::Operand { op: "add", .. }), "{error}");
}

#[test]
fn weights_and_states_are_declared() {
    let error = broken(|g| g.nodes[0].op = Embed { weight: WeightId(13) }.into());
    assert_eq!(
        error,
        Error::Undeclared { node: 0, op: "embed", what: "weight", id: 13, count: 13 }
    );
    let store = position(&graph(), "store");
    let error = broken(|g| g.nodes[store].op = KvStore { state: StateId(7) }.into());
    let text = format!("node {store} (kv_store) names state 7, but the model declares 4");
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_cache_is_written_before_it_is_read() {
    let (store, attention) = (position(&graph(), "store"), position(&graph(), "attention"));
    let error = broken(|g| g.nodes.swap(store, attention));
    assert_eq!(error, Error::ReadBeforeStore { node: store, state: 0 });
    let text = format!("node {store} reads state 0 before kv_store has written it");
    assert_eq!(error.to_string(), text);
    let error = broken(|g| drop(g.nodes.remove(store)));
    assert!(matches!(error, Error::ReadBeforeStore { .. }), "{error}");
}

#[test]
fn the_host_reads_values_that_are_there_in_the_type_it_expects() {
    let error = broken(|g| g.outputs[0].value = ValueId(99));
    assert_eq!(error, Error::Undefined { node: 7, op: "output", value: 99 });
    let error = broken(|g| drop(g.nodes.pop()));
    assert!(matches!(error, Error::Undefined { op: "output", .. }), "{error}");
    let error = broken(|g| g.outputs[0].kind = OutputKind::Logits);
    assert_eq!(error.to_string(), "output: expected a f32 operand, found i32[T,1]");
    let error = broken(|g| g.outputs.push(Output { kind: OutputKind::Ids, value: ValueId(3) }));
    assert_eq!(error.to_string(), "output: expected a i32 operand, found f32[T,256]");
}
