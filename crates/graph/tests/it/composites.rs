//! Composites: their shape rules, and that their decompositions are graphs which give the same
//! types.

use minfer_graph::op::add_norm::AddNorm;
use minfer_graph::op::expert_gate_up::ExpertGateUp;
use minfer_graph::op::gate_up::GateUp;
use minfer_graph::op::glu::Glu;
use minfer_graph::op::glu_quantize::GluQuantize;
use minfer_graph::op::matmul::Member;
use minfer_graph::op::matmul_add::MatmulAdd;
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::norm_add::NormAdd;
use minfer_graph::op::norm_matmul::NormMatmul;
use minfer_graph::op::norm_quantize::NormQuantize;
use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::qkv::Qkv;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::softmax::Softmax;
use minfer_graph::{
    Activation, Error, Graph, Node, Op, OpKind, Rewrite, StateId, TensorType, Value, ValueId,
};
use minfer_quant::DType;

use crate::shape_rules::{accepts, refuses};
use crate::world::*;

const SILU: Activation = Activation::Silu;

fn member(weight: minfer_graph::WeightId, operand: usize) -> Member {
    Member { operand, ..Member::new(weight, None) }
}

fn qkv(norms: bool) -> Qkv {
    let norm = QkNorm { weight: HEAD_NORM, eps: 1e-5, head_dim: 32 };
    Qkv {
        members: vec![Member::new(Q, Some(Q_BIAS)), Member::new(K, Some(K_BIAS)), member(V, 0)],
        norms: norms.then(|| [norm.clone(), norm]),
        input_norm: None,
        rope: rope(),
        state: CACHE,
    }
}

fn input_norm() -> Option<RmsNorm> {
    Some(RmsNorm { weight: NORM, eps: 1e-5 })
}

/// Every composite with operands that it takes.
fn samples() -> Vec<(Op, Vec<TensorType>)> {
    let gate_up =
        GateUp { members: vec![member(GATE, 0), member(UP, 1)], input_norm: None, function: SILU };
    let members = vec![member(GATE, 0), member(UP, 0)];
    let normed = GateUp { members, input_norm: input_norm(), function: SILU };
    let experts = ExpertGateUp { gate: EXPERTS, up: EXPERTS, function: SILU };
    let projections = vec![member(Q, 0), member(K, 0)];
    let both = vec![quantized(DType::Q8_0, 256), tokens(256)];
    let indexed = vec![tokens(256), indices(1), indices(1)];
    let indexed_again = indexed.clone();
    vec![
        (Glu { function: SILU }.into(), vec![tokens(96); 2]),
        (AddNorm { weight: NORM, eps: 1e-5 }.into(), vec![tokens(256); 2]),
        (NormQuantize { weight: NORM, eps: 1e-5, dtype: DType::Q8_K }.into(), vec![outputs(256)]),
        (GluQuantize { function: SILU, dtype: DType::Q8_0 }.into(), vec![several(2, 96); 2]),
        (NormMatmul { weight: NORM, eps: 1e-5, members: projections }.into(), vec![tokens(256)]),
        (qkv(false).into(), indexed.clone()),
        (qkv(true).into(), indexed),
        (gate_up.into(), both),
        (experts.into(), vec![tokens(256), indices(2)]),
        (Qkv { input_norm: input_norm(), ..qkv(true) }.into(), indexed_again),
        (normed.into(), vec![tokens(256)]),
        (NormAdd { weight: NORM, eps: 1e-5 }.into(), vec![tokens(256); 2]),
        (MatmulAdd { weight: Q, bias: Some(Q_BIAS) }.into(), vec![tokens(256); 2]),
    ]
}

/// A graph of one node, whose operands are given.
fn alone(op: Op, inputs: &[TensorType]) -> Graph {
    let tables = tables();
    let outputs = op.def().infer(inputs, &tables).unwrap();
    // Operands stand as inputs of the step, so that the verifier takes them for defined.
    let input = Some(minfer_graph::Input::Tokens);
    let operands = inputs.iter().map(|&ty| Value { ty, input });
    let results = outputs.iter().map(|&ty| Value { ty, input: None });
    let count = inputs.len() as u32;
    let node = Node {
        op,
        inputs: (0..count).map(ValueId).collect(),
        outputs: (count..count + outputs.len() as u32).map(ValueId).collect(),
        layer: Some(5),
        name: "node".into(),
    };
    Graph { tables, values: operands.chain(results).collect(), nodes: vec![node], outputs: vec![] }
}

#[test]
fn the_samples_are_all_composites() {
    let mut kinds: Vec<OpKind> = samples().iter().map(|(op, _)| op.kind()).collect();
    kinds.sort();
    kinds.dedup();
    let mut all: Vec<OpKind> =
        OpKind::ALL.iter().copied().filter(|kind| kind.is_composite()).collect();
    all.sort();
    assert_eq!(kinds, all);
}

#[test]
fn decompositions_are_sound_and_give_the_same_values() {
    for (op, inputs) in samples() {
        let mut graph = alone(op, &inputs);
        assert_eq!(graph.verify(), Ok(()));
        // Until nothing but primitives is left.
        while let Some(at) = graph.nodes.iter().position(|n| n.op.kind().is_composite()) {
            let node = graph.nodes[at].clone();
            let outputs = graph.types(&node.outputs);
            let parts = Rewrite::decompose(&mut graph, &node).unwrap();
            assert!(parts.len() > 1, "{:?}", node.op);
            assert!(parts.iter().all(|part| part.layer == Some(5)));
            assert!(parts.iter().all(|part| part.name.starts_with("node.")));
            graph.nodes.splice(at..=at, parts);
            assert_eq!(graph.verify(), Ok(()), "{:?}", node.op);
            assert_eq!(graph.types(&node.outputs), outputs, "{:?}", node.op);
            for output in &node.outputs {
                assert!(graph.producers()[output.0 as usize].is_some(), "{:?}", node.op);
            }
        }
    }
}

#[test]
fn decompositions_do_the_same_work() {
    let counts = minfer_graph::Counts { tokens: 4, outputs: 2 };
    for (op, inputs) in samples() {
        let mut graph = alone(op, &inputs);
        let node = graph.nodes[0].clone();
        let macs = |graph: &Graph, node: &Node| {
            node.op.def().macs(&graph.types(&node.inputs), &graph.tables, &counts)
        };
        let state = node.op.def().writes_state();
        let (whole, mut weights) = (macs(&graph, &node), node.op.def().weights());
        let parts = Rewrite::decompose(&mut graph, &node).unwrap();
        let sum: u64 = parts.iter().map(|part| macs(&graph, part)).sum();
        assert_eq!(sum, whole, "{:?}", node.op);
        let mut of_parts: Vec<_> = parts.iter().flat_map(|part| part.op.def().weights()).collect();
        weights.sort();
        of_parts.sort();
        assert_eq!(of_parts, weights, "{:?}", node.op);
        assert_eq!(parts.iter().find_map(|part| part.op.def().writes_state()), state);
    }
}

#[test]
fn a_group_comes_apart_into_one_matmul_a_member() {
    let members = vec![Member::new(Q, Some(Q_BIAS)), member(V, 1)];
    let inputs = [quantized(DType::Q8_0, 256), quantized(DType::Q8_K, 256)];
    let mut graph = alone(MatmulGroup { members }.into(), &inputs);
    let node = graph.nodes[0].clone();
    graph.nodes = Rewrite::decompose(&mut graph, &node).unwrap();
    assert_eq!(graph.verify(), Ok(()));
    let inputs: Vec<_> = graph.nodes.iter().map(|n| n.inputs[0]).collect();
    assert_eq!(inputs, [ValueId(0), ValueId(1)]);
    assert!(graph.nodes.iter().all(|n| n.op.kind() == OpKind::Matmul));
    assert_eq!(graph.nodes[0].op.def().weights(), [Q, Q_BIAS]);
}

#[test]
fn primitives_do_not_come_apart() {
    let mut graph = alone(Softmax.into(), &[tokens(4)]);
    let node = graph.nodes[0].clone();
    let error = Rewrite::decompose(&mut graph, &node).unwrap_err();
    assert_eq!(error, Error::Primitive { op: "softmax" });
    assert_eq!(error.to_string(), "softmax has no decomposition: it is a primitive");
}

#[test]
fn products_of_gates_take_two_of_one_type() {
    let op = Glu { function: SILU };
    accepts(op.clone(), &[several(2, 9); 2], &[several(2, 9)]);
    let rows = "glu: expected operands of one type, f32[T,9], found f32[O,9]";
    refuses(op, &[tokens(9), outputs(9)], rows);
    let quantize = |dtype| GluQuantize { function: SILU, dtype };
    accepts(quantize(DType::Q8_0), &[tokens(64); 2], &[quantized(DType::Q8_0, 64)]);
    let blocks = "glu_quantize: expected columns in whole q8_k blocks, found f32[T,64]";
    refuses(quantize(DType::Q8_K), &[tokens(64); 2], blocks);
}

#[test]
fn fused_norms_take_a_weight_per_column() {
    let sum = AddNorm { weight: NORM, eps: 1e-5 };
    accepts(sum.clone(), &[tokens(256); 2], &[tokens(256); 2]);
    let narrow = "add_norm: expected a vector of 64, found norm [1, 1, 256]";
    refuses(sum, &[tokens(64); 2], narrow);
    let quantize = |dtype| NormQuantize { weight: NORM, eps: 1e-5, dtype };
    accepts(quantize(DType::Q8_0), &[tokens(256)], &[quantized(DType::Q8_0, 256)]);
    let float = "norm_quantize: expected a quantized target, q8_0, q8_k or q16_0, found f32";
    refuses(quantize(DType::F32), &[tokens(256)], float);
    let matmul = |members| NormMatmul { weight: NORM, eps: 1e-5, members };
    accepts(matmul(vec![member(K, 0), member(Q, 0)]), &[tokens(256)], &[tokens(64), tokens(256)]);
    let rows = "norm_matmul: expected a f32 operand, found q8_0[T,256]";
    refuses(matmul(vec![member(K, 0)]), &[quantized(DType::Q8_0, 256)], rows);
    let operand = "norm_matmul: expected operand 1, found 1";
    refuses(matmul(vec![member(K, 1)]), &[tokens(256)], operand);
}

#[test]
fn gate_up_takes_two_matrices_of_one_height() {
    let op = |members| GateUp { members, input_norm: None, function: SILU };
    accepts(op(vec![member(GATE, 0), member(UP, 0)]), &[tokens(256)], &[tokens(512)]);
    let heights = "gate_up: expected operands of one type, f32[T,512], found f32[T,64]";
    refuses(op(vec![member(GATE, 0), member(K, 0)]), &[tokens(256)], heights);
    refuses(op(vec![member(GATE, 0)]), &[tokens(256)], "gate_up: expected 2 members, found 1");
}

#[test]
fn gates_of_experts_take_what_their_products_take() {
    let op = |up| ExpertGateUp { gate: EXPERTS, up, function: SILU };
    accepts(op(EXPERTS), &[tokens(256), indices(2)], &[several(2, 512)]);
    let unequal = "expert_gate_up: expected operands of one type, f32[T*2,512], found f32[T*2,64]";
    refuses(op(K), &[tokens(256), indices(2)], unequal);
    assert_eq!(Op::from(op(EXPERTS)).matmul_weights(0), [EXPERTS, EXPERTS]);
}

#[test]
fn what_is_still_to_be_normed_comes_once_and_in_f32() {
    let op = GateUp {
        members: vec![member(GATE, 0), member(UP, 0)],
        input_norm: input_norm(),
        function: SILU,
    };
    accepts(op.clone(), &[tokens(256)], &[tokens(512)]);
    let float = "gate_up: expected a f32 operand, found q8_0[T,256]";
    refuses(op.clone(), &[quantized(DType::Q8_0, 256)], float);
    refuses(op.clone(), &[tokens(256); 2], "gate_up: expected 1 operands, found 2");
    assert_eq!(Op::from(op).matmul_weights(0), []);
    let op = Qkv { input_norm: input_norm(), ..qkv(true) };
    let quantized = [quantized(DType::Q8_0, 256), indices(1), indices(1)];
    refuses(op, &quantized, "qkv: expected a f32 operand, found q8_0[T,256]");
}

#[test]
fn residuals_are_shaped_like_what_they_are_added_to() {
    let norm = NormAdd { weight: NORM, eps: 1e-5 };
    accepts(norm.clone(), &[tokens(256); 2], &[tokens(256)]);
    let unequal = "norm_add: expected operands of one type, f32[T,256], found f32[T,64]";
    refuses(norm, &[tokens(256), tokens(64)], unequal);
    let matmul = MatmulAdd { weight: K, bias: None };
    accepts(matmul.clone(), &[quantized(DType::Q8_0, 256), tokens(64)], &[tokens(64)]);
    let unequal = "matmul_add: expected operands of one type, f32[T,64], found f32[T,256]";
    refuses(matmul, &[tokens(256); 2], unequal);
}

#[test]
fn qkv_takes_what_its_parts_take() {
    let inputs = [tokens(256), indices(1), indices(1)];
    accepts(qkv(true), &inputs, &[tokens(256)]);
    let both = [quantized(DType::Q8_0, 256), tokens(256), indices(1), indices(1)];
    let mut mixed = qkv(false);
    mixed.members[2].operand = 1;
    accepts(mixed, &both, &[tokens(256)]);

    let few = "qkv: expected activations, positions and slots, found fewer operands";
    refuses(qkv(true), &inputs[..1], few);
    refuses(qkv(true), &inputs[1..], "qkv: expected at least one operand, found none");
    let mut two = qkv(true);
    two.members.pop();
    refuses(two, &inputs, "qkv: expected 3 members, found 2");
    let mut unequal = qkv(false);
    unequal.members[2] = member(Q, 0);
    let values = "qkv: expected operands of one type, f32[T,64], found f32[T,256]";
    refuses(unequal, &inputs, values);
    let recurrent = Qkv { state: RECURRENT, ..qkv(true) };
    refuses(recurrent, &inputs, "qkv: expected a paged state, found a per-sequence state");
    let absent = Qkv { state: StateId(9), ..qkv(true) };
    refuses(absent, &inputs, "qkv: expected a declared state, found state 9");
    let mut rotated = qkv(true);
    rotated.rope.head_dim = 48;
    let heads = "qkv: expected token rows of heads of 48 with at most 24 pairs, found f32[T,256], \
                 16 pairs";
    refuses(rotated, &inputs, heads);
}
