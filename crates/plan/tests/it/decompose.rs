//! What a target refuses is taken apart, or is an error.

use minfer_graph::op::gate_up::GateUp;
use minfer_graph::op::matmul::Member;
use minfer_graph::op::qkv::Qkv;
use minfer_graph::{Activation, Graph, OpKind, OutputKind};
use minfer_plan::{Error, FUSIONS};

use crate::target::*;
use crate::world::*;

/// Composites as an architecture might write them.
fn graph() -> Graph {
    let mut b = builder();
    let x = embed(&mut b);
    b.layer(Some(0));
    let positions = b.input(minfer_graph::Input::Positions);
    let slots = b.input(minfer_graph::Input::Slots { group: 0 });
    let members = [Q, K, V].map(|weight| Member::new(weight, None)).to_vec();
    let rope = minfer_graph::op::rope::Rope {
        head_dim: 32,
        pairs: minfer_graph::op::rope::Pairs::Interleaved,
        frequencies: [1.0].into(),
        magnitude: 1.0,
    };
    let op = Qkv { members, input_norm: None, norms: None, rope, state: minfer_graph::StateId(0) };
    let q = b.push_one("qkv", op, &[x, positions, slots]).unwrap();
    let members = [GATE, UP].map(|weight| Member::new(weight, None)).to_vec();
    let op = GateUp { members, input_norm: None, function: Activation::Silu };
    let inner = b.push_one("gate_up", op, &[q]).unwrap();
    b.output(OutputKind::Logits, inner);
    b.finish().unwrap()
}

#[test]
fn what_is_taken_stays_whole() {
    let program = plan_whole(&graph(), &Switches::new("a"), &only(&[])).unwrap();
    assert_eq!(kinds(&program.graph), ["embed", "qkv", "gate_up"]);
    assert_eq!(program.notes, []);
}

#[test]
fn a_refused_composite_is_taken_apart_as_far_as_needed() {
    let target = Switches::new("a").refusing(&[OpKind::GateUp]);
    let program = plan_whole(&graph(), &target, &only(&[])).unwrap();
    assert_eq!(kinds(&program.graph), ["embed", "qkv", "matmul_group", "glu"]);
    let note = &program.notes[0];
    assert_eq!(note.node, "gate_up");
    assert_eq!(note.text, "gate_up taken apart: gate_up is switched off");
    assert_eq!(program.graph.nodes[3].outputs, graph().nodes[2].outputs);

    let refused = [OpKind::GateUp, OpKind::Glu, OpKind::MatmulGroup, OpKind::Qkv];
    let target = Switches::new("a").refusing(&refused);
    let program = plan_whole(&graph(), &target, &only(&[])).unwrap();
    let qkv = ["matmul", "matmul", "matmul", "rope", "rope", "kv_store"];
    let gate_up = ["matmul", "matmul", "unary", "mul"];
    assert_eq!(kinds(&program.graph), [&["embed"][..], &qkv, &gate_up].concat());
    assert_eq!(program.notes.len(), 5);
    assert!(program.graph.nodes[1..].iter().all(|node| node.layer == Some(0)));
    crate::simulate::program(&program).unwrap();
}

/// Fusions do not bring back what was refused.
#[test]
fn fusions_ask_too() {
    let refused = [OpKind::GateUp, OpKind::Qkv];
    let target = Switches::new("a").refusing(&refused);
    let program = plan_whole(&graph(), &target, &only(FUSIONS)).unwrap();
    assert!(!kinds(&program.graph).contains(&"gate_up"));
    assert!(!kinds(&program.graph).contains(&"qkv"));
}

#[test]
fn a_refused_primitive_is_an_error_with_the_target_s_reason() {
    let refused = [OpKind::Qkv, OpKind::Rope];
    let target = Switches::new("Toy").refusing(&refused);
    let error = plan_whole(&graph(), &target, &only(&[])).unwrap_err();
    assert_eq!(error.to_string(), "Toy cannot run rope (node qkv.q_rope): rope is switched off");
    match error {
        Error::Unsupported { target, op, node, reason } => {
            assert_eq!(
                [&target, op, &node, &reason],
                ["Toy", "rope", "qkv.q_rope", "rope is switched off"]
            );
        }
        other => panic!("{other:?}"),
    }
}

/// The work of one target never moves to another.
#[test]
fn the_other_target_does_not_step_in() {
    let (weak, strong) =
        (Switches::new("weak").refusing(&[OpKind::Embed]), Switches::new("strong"));
    let error = plan_on_two(&graph(), [&weak, &strong], &[0], &only(&[])).unwrap_err();
    assert_eq!(error.to_string(), "weak cannot run embed (node embed): embed is switched off");
    plan_on_two(&graph(), [&weak, &strong], &[1], &only(&[])).unwrap();
}
