//! Every stage of a small llama on one and on two targets, as text.

use expect_test::expect_file;
use minfer_graph::{OpKind, Want};
use minfer_models::arch::ARCHITECTURES;
use minfer_plan::Options;
use minfer_quant::Quant;

use crate::architectures::{model, shape};
use crate::target::*;

fn scratch(kind: OpKind) -> usize {
    if kind == OpKind::Attention { 3000 } else { 0 }
}

fn llama(layers: usize) -> minfer_graph::Graph {
    let llama = ARCHITECTURES.iter().find(|a| a.name == "llama").unwrap();
    let blueprint = (llama.tiny)(64).with_layers(layers);
    model(&blueprint, Quant::Q4_0).graph(&shape(Want::TopK(5))).unwrap()
}

#[test]
fn one_layer_on_one_target() {
    let graph = llama(1);
    expect_file!["snapshots/llama.graph.txt"].assert_eq(&graph.dump());
    let target = Switches::new("a").wanting(blocks).needing(scratch);
    let program = plan_whole(&graph, &target, &Options::default()).unwrap();
    expect_file!["snapshots/llama.planned.txt"].assert_eq(&program.graph.dump());
    expect_file!["snapshots/llama.program.txt"].assert_eq(&program.dump());
    expect_file!["snapshots/llama.launches.txt"].assert_eq(&program.dump_launches());
}

#[test]
fn two_layers_on_two_targets() {
    let graph = llama(2);
    let one = Switches::new("a").wanting(blocks).refusing(&[OpKind::Qkv, OpKind::GateUp]);
    let two = Switches::new("b").refusing(&[OpKind::MatmulGroup]);
    let program = plan_on_two(&graph, [&one, &two], &[0, 1], &only(&[])).unwrap();
    expect_file!["snapshots/llama.splits.txt"].assert_eq(&program.dump());
}

/// The same plan twice, to the letter.
#[test]
fn planning_is_a_function() {
    let target = Switches::new("a").wanting(blocks);
    let text = || {
        let program = plan_whole(&llama(2), &target, &Options::default()).unwrap();
        program.dump() + &program.dump_launches()
    };
    assert_eq!(text(), text());
}
