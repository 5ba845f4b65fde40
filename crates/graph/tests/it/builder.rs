//! The builder names what an architecture got wrong where it was written.

use minfer_graph::op::add::Add;
use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::embed::Embed;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::top_k::TopK;
use minfer_graph::{Error, Input, OutputKind, StateId, ValueId, WeightId};

use crate::world::*;

#[test]
fn an_input_is_one_value_however_often_it_is_asked_for() {
    let mut b = builder();
    let tokens = b.input(Input::Tokens);
    let slots = b.input(Input::Slots { group: 0 });
    assert_eq!(b.input(Input::Tokens), tokens);
    assert_ne!(b.input(Input::Slots { group: 1 }), slots);
    let graph = b.finish().unwrap();
    let inputs: Vec<Input> = graph.inputs().map(|(_, input)| input).collect();
    assert_eq!(inputs, [Input::Tokens, Input::Slots { group: 0 }, Input::Slots { group: 1 }]);
}

#[test]
fn nodes_keep_order_layer_and_name() {
    let mut b = builder();
    let ids = b.input(Input::Tokens);
    let x = b.push_one("embed", Embed { weight: EMBED }, &[ids]).unwrap();
    b.layer(Some(3));
    let y = b.push_one("double", Add, &[x, x]).unwrap();
    b.layer(None);
    let best = b.push_one("best", Argmax, &[y]).unwrap();
    b.output(OutputKind::Ids, best);
    let graph = b.finish().unwrap();
    let nodes: Vec<_> = graph.nodes.iter().map(|n| (n.name.as_str(), n.layer)).collect();
    assert_eq!(nodes, [("embed", None), ("double", Some(3)), ("best", None)]);
    assert_eq!(graph.nodes[1].inputs, [x, x]);
    assert_eq!(graph.uses()[x.0 as usize], 2);
    assert_eq!(graph.uses()[best.0 as usize], 1);
    assert_eq!(graph.producers()[y.0 as usize], Some(minfer_graph::NodeId(1)));
    assert_eq!(graph.producers()[ids.0 as usize], None);
}

#[test]
fn a_refused_node_leaves_the_graph_as_it_was() {
    let mut b = builder();
    let ids = b.input(Input::Tokens);
    let x = b.push_one("embed", Embed { weight: EMBED }, &[ids]).unwrap();
    let error = b.push("sum", Add, &[x, ids]).unwrap_err();
    assert!(matches!(error, Error::Operand { op: "add", .. }), "{error}");
    let graph = b.finish().unwrap();
    assert_eq!((graph.nodes.len(), graph.values.len()), (1, 2));
}

#[test]
fn what_a_node_names_must_exist() {
    let mut b = builder();
    let ids = b.input(Input::Tokens);
    let error = b.push("embed", Embed { weight: WeightId(13) }, &[ids]).unwrap_err();
    let text = "node 0 (embed) names weight 13, but the model declares 13";
    assert_eq!(error.to_string(), text);
    let x = b.push_one("embed", Embed { weight: EMBED }, &[ids]).unwrap();
    let norm = RmsNorm { weight: NORM, eps: 1e-5 };
    let error = b.push("norm", norm, &[ValueId(9)]).unwrap_err();
    let text = "node 1 (rms_norm) uses value 9, which no earlier node defines";
    assert_eq!(error.to_string(), text);
    let error = b.push("store", KvStore { state: StateId(4) }, &[x, x, ids]).unwrap_err();
    assert_eq!(
        error,
        Error::Undeclared { node: 1, op: "kv_store", what: "state", id: 4, count: 4 }
    );
}

#[test]
fn one_value_is_asked_of_ops_with_one() {
    let mut b = builder();
    let ids = b.input(Input::Tokens);
    let x = b.push_one("embed", Embed { weight: EMBED }, &[ids]).unwrap();
    let error = b.push_one("top", TopK { k: 2 }, &[x]).unwrap_err();
    assert_eq!(error.to_string(), "top_k: expected an op with one output, found 2 outputs");
}
