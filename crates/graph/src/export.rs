//! Graphs for other tools: Graphviz DOT, and JSON.

use crate::graph::{Graph, NodeId};

pub(crate) fn dot(graph: &Graph) -> String {
    let producers = graph.producers();
    let mut text = String::from("digraph minfer {\n  node [shape=box, fontname=\"monospace\"];\n");
    for (id, input) in graph.inputs() {
        text += &format!("  v{} [label={}, shape=ellipse];\n", id.0, quoted(&input.name()));
    }
    for (index, node) in graph.nodes.iter().enumerate() {
        let label = format!("{}\n{}", node.op.kind().name(), node.name);
        text += &format!("  n{index} [label={}];\n", quoted(&label));
        for id in &node.inputs {
            let from = match producers[id.0 as usize] {
                Some(NodeId(producer)) => format!("n{producer}"),
                None => format!("v{}", id.0),
            };
            let ty = graph.ty(*id).to_string();
            text += &format!("  {from} -> n{index} [label={}];\n", quoted(&ty));
        }
    }
    text + "}\n"
}

pub(crate) fn json(graph: &Graph) -> String {
    let ids = |ids: &[crate::ValueId]| {
        ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(",")
    };
    let values: Vec<String> = graph
        .values
        .iter()
        .map(|value| {
            let input = value.input.map_or("null".into(), |input| quoted(&input.name()));
            format!("{{\"type\":{},\"input\":{input}}}", quoted(&value.ty.to_string()))
        })
        .collect();
    let nodes: Vec<String> = graph
        .nodes
        .iter()
        .map(|node| {
            format!(
                "{{\"op\":{},\"name\":{},\"layer\":{},\"inputs\":[{}],\"outputs\":[{}],\
                 \"attributes\":{}}}",
                quoted(node.op.kind().name()),
                quoted(&node.name),
                node.layer.map_or("null".into(), |layer| layer.to_string()),
                ids(&node.inputs),
                ids(&node.outputs),
                quoted(crate::dump::attributes(graph, node).trim())
            )
        })
        .collect();
    let outputs: Vec<String> = graph
        .outputs
        .iter()
        .map(|output| format!("{{\"kind\":\"{:?}\",\"value\":{}}}", output.kind, output.value.0))
        .collect();
    format!(
        "{{\"values\":[{}],\"nodes\":[{}],\"outputs\":[{}]}}\n",
        values.join(","),
        nodes.join(","),
        outputs.join(",")
    )
}

/// A string literal valid in both JSON and DOT.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            c if (c as u32) < 0x20 => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out + "\""
}
