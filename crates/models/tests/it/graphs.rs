//! The graphs that architectures write, as text: the ends, the first layer, the last, and what is
//! special.

use expect_test::expect_file;
use minfer_graph::{OutputKind, Want};
use minfer_models::arch::ARCHITECTURES;

use crate::make::*;

/// A dump's head and its lines outside of layers, and in layers `shown`.
fn excerpt(dump: &str, shown: &[usize]) -> String {
    let wanted = |line: &&str| match line.split_once("# blk.") {
        None => true,
        Some((_, name)) => shown.iter().any(|layer| name.starts_with(&format!("{layer}."))),
    };
    dump.lines().filter(wanted).map(|line| format!("{line}\n")).collect()
}

#[test]
fn graphs_of_every_architecture() {
    for architecture in ARCHITECTURES {
        let model = Draft::tiny(architecture.name).open().unwrap();
        // Layer 5 of gemma3 is the one without a window; the last keeps the output rows alone.
        let shown = if architecture.name == "gemma3" { vec![0, 5, 6] } else { vec![0, 1] };
        let text = excerpt(&graph(&model).dump(), &shown);
        expect_file![format!("snapshots/{}.txt", architecture.name)].assert_eq(&text);
    }
}

#[test]
fn the_host_gets_what_it_wants() {
    let model = Draft::tiny("llama").open().unwrap();
    let outputs = |want| {
        let graph = model.graph(&shape(want)).unwrap();
        let of = |output: &minfer_graph::Output| (output.kind, graph.ty(output.value).to_string());
        graph.outputs.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(outputs(Want::Logits), [(OutputKind::Logits, "f32[O,288]".into())]);
    assert_eq!(outputs(Want::Argmax), [(OutputKind::Ids, "i32[O,1]".into())]);
    let top = [(OutputKind::Ids, "i32[O,5]".into()), (OutputKind::IdLogits, "f32[O,5]".into())];
    assert_eq!(outputs(Want::TopK(5)), top);
    let error = model.graph(&shape(Want::TopK(289))).unwrap_err();
    assert_eq!(error.to_string(), "top_k: expected 1 to 288 elements, found 289");
}

/// Topology is the model's and the shape's: two graphs of one shape are equal, and a graph of
/// another bucket has the same nodes.
#[test]
fn a_bucket_changes_sizes_alone() {
    for architecture in ARCHITECTURES {
        let model = Draft::tiny(architecture.name).open().unwrap();
        let small = graph(&model);
        assert_eq!(small, graph(&model));
        let wide = minfer_graph::StepShape { tokens: 512, outputs: 32, ..shape(Want::Logits) };
        let large = model.graph(&wide).unwrap();
        assert_eq!(small.nodes, large.nodes);
        assert_eq!(small.values, large.values);
    }
}

/// The feed-forward block of the last layer runs on output rows.
#[test]
fn the_last_layer_computes_the_rows_that_are_asked_for() {
    for architecture in ARCHITECTURES {
        let model = Draft::tiny(architecture.name).open().unwrap();
        let graph = graph(&model);
        let picked = graph.nodes.iter().position(|node| node.name == "output_rows").unwrap();
        let last = model.config().layers - 1;
        assert_eq!(graph.nodes[picked].layer, Some(last));
        for node in &graph.nodes[picked..] {
            for output in &node.outputs {
                assert!(graph.ty(*output).rows.to_string().starts_with('O'), "{}", node.name);
            }
        }
    }
}
