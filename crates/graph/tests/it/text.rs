//! The text forms of a small graph: dump, DOT and JSON.

use expect_test::expect_file;
use minfer_graph::op::add_norm::AddNorm;
use minfer_graph::op::attention::Attention;
use minfer_graph::op::embed::Embed;
use minfer_graph::op::gate_up::GateUp;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::qkv::Qkv;
use minfer_graph::op::top_k::TopK;
use minfer_graph::{Activation, Graph, Input, OutputKind};
use serde_json::Value;

use crate::world::*;

/// One layer with attention and a feed-forward block, whose names need quoting.
fn graph() -> Graph {
    let mut b = builder();
    let ids = b.input(Input::Tokens);
    let x =
        b.push_one("embed \"quoted\" \\\n(two lines)", Embed { weight: EMBED }, &[ids]).unwrap();
    b.layer(Some(0));
    let positions = b.input(Input::Positions);
    let slots = b.input(Input::Slots { group: 0 });
    let members = vec![Member::new(Q, Some(Q_BIAS)), Member::new(K, None), Member::new(V, None)];
    let qkv = Qkv { members, input_norm: None, norms: None, rope: rope(), state: CACHE };
    let q = b.push_one("blk.0.qkv", qkv, &[x, positions, slots]).unwrap();
    let (pages, work) = (b.input(Input::Pages { group: 0 }), b.input(Input::Work { group: 0 }));
    let attention =
        Attention { state: CACHE, heads: 8, scale: 0.125, soft_cap: Some(30.0), sinks: None };
    let mixed = b.push_one("blk.0.attn", attention, &[q, positions, pages, work]).unwrap();
    let norm = AddNorm { weight: NORM, eps: 1e-6 };
    let sums = b.push("blk.0.add_norm", norm, &[x, mixed]).unwrap();
    let members = vec![Member::new(GATE, None), Member::new(UP, None)];
    let gate_up = GateUp { members, input_norm: None, function: Activation::Silu };
    let inner = b.push_one("blk.0.gate_up", gate_up, &[sums[1]]).unwrap();
    let down = Matmul::new(DOWN, None);
    let down = b.push_one("blk.0.down", down, &[inner]).unwrap();
    b.layer(None);
    let rows = b.input(Input::OutputRows);
    let picked = b.push_one("rows", GetRows, &[down, rows]).unwrap();
    let top = b.push("top", TopK { k: 5 }, &[picked]).unwrap();
    b.output(OutputKind::Ids, top[0]);
    b.output(OutputKind::IdLogits, top[1]);
    b.finish().unwrap()
}

#[test]
fn dump() {
    expect_file!["snapshots/graph.txt"].assert_eq(&graph().dump());
}

#[test]
fn dot() {
    expect_file!["snapshots/graph.dot"].assert_eq(&graph().to_dot());
}

/// Every line of the body is a statement that Graphviz takes: a node or an edge with attributes.
#[test]
fn dot_is_a_list_of_statements() {
    let (graph, dot) = (graph(), graph().to_dot());
    let body = dot.strip_prefix("digraph minfer {\n").unwrap().strip_suffix("}\n").unwrap();
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for line in body.lines().skip(1) {
        let line = line.strip_suffix("];").unwrap();
        let (subject, attributes) = line.trim().split_once(" [label=").unwrap();
        // A string with its escapes, as JSON has them too; a shape may follow.
        let label = attributes.strip_suffix(", shape=ellipse").unwrap_or(attributes);
        serde_json::from_str::<String>(label).unwrap();
        match subject.split_once(" -> ") {
            Some((from, to)) => edges.extend([from, to]),
            None => nodes.push(subject),
        }
    }
    assert_eq!(nodes.len(), graph.nodes.len() + graph.inputs().count());
    let reads: usize = graph.nodes.iter().map(|node| node.inputs.len()).sum();
    assert_eq!(edges.len(), 2 * reads);
    assert!(edges.iter().all(|end| nodes.contains(end)));
}

#[test]
fn json() {
    expect_file!["snapshots/graph.json"].assert_eq(&graph().to_json());
}

#[test]
fn json_says_what_the_graph_says() {
    let graph = graph();
    let json: Value = serde_json::from_str(&graph.to_json()).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let (values, nodes) = (list(&json["values"]), list(&json["nodes"]));
    assert_eq!((values.len(), nodes.len()), (graph.values.len(), graph.nodes.len()));
    for (value, found) in graph.values.iter().zip(&values) {
        assert_eq!(found["type"], value.ty.to_string());
        assert_eq!(found["input"], value.input.map_or(Value::Null, |input| input.name().into()));
    }
    for (node, found) in graph.nodes.iter().zip(&nodes) {
        assert_eq!(found["op"], node.op.kind().name());
        assert_eq!(found["name"], node.name.as_str());
        assert_eq!(found["layer"].as_u64(), node.layer.map(|layer| layer as u64));
        let ids = |ids: &[minfer_graph::ValueId]| ids.iter().map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(found["inputs"], Value::from(ids(&node.inputs)));
        assert_eq!(found["outputs"], Value::from(ids(&node.outputs)));
    }
}
