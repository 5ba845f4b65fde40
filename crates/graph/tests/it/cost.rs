//! Figures of cost, held to numbers worked out by hand.

use minfer_graph::op::add::Add;
use minfer_graph::op::attention::Attention;
use minfer_graph::op::embed::Embed;
use minfer_graph::op::expert_combine::ExpertCombine;
use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_graph::{Cost, Counts, Op, Rows, StateId, TensorType, WeightId};
use minfer_quant::DType;

use crate::world::*;

const COUNTS: Counts = Counts { tokens: 3, outputs: 1 };

fn cost(op: impl Into<Op>, inputs: &[TensorType]) -> Cost {
    let (op, tables) = (op.into(), tables());
    let outputs = op.def().infer(inputs, &tables).unwrap();
    op.cost(inputs, &outputs, &tables, &COUNTS)
}

#[test]
fn a_matmul_reads_its_matrix_once_and_its_rows() {
    let found = cost(Matmul::new(GATE, None), &[quantized(DType::Q8_0, 256)]);
    // q4_0: 18 bytes for 32 weights. A q8_0 row: 256 int8, 8 scales and 8 sums of 4 bytes.
    let row = 256 + 8 * 4 + 8 * 4;
    assert_eq!(
        found,
        Cost {
            macs: 3 * 512 * 256,
            weight_bytes: 512 * 256 / 32 * 18,
            activation_bytes: 3 * (row + 512 * 4),
        }
    );
    // Work follows the step's rows, not the bucket's.
    let head = cost(Matmul::new(K, Some(K_BIAS)), &[outputs(256)]);
    assert_eq!((head.macs, head.weight_bytes), (64 * 256, 64 * 256 / 32 * 34 + 64 * 4));
}

#[test]
fn a_group_is_the_sum_of_its_members() {
    let members = vec![Member::new(Q, None), Member::new(K, None), Member::new(V, None)];
    let found = cost(MatmulGroup { members }, &[tokens(256)]);
    assert_eq!(found.macs, 3 * (256 + 64 + 64) * 256);
    // q8_0: 34 bytes for 32; q6_k: 210 bytes for 256.
    assert_eq!(found.weight_bytes, (256 + 64) * 8 * 34 + 64 * 210);
    assert_eq!(found.activation_bytes, 3 * 4 * (256 + 256 + 64 + 64));
}

#[test]
fn lookups_read_the_rows_they_use() {
    // q4_k: 144 bytes for 256.
    let embed = cost(Embed { weight: EMBED }, &[indices(1)]);
    assert_eq!(embed, Cost { macs: 0, weight_bytes: 3 * 144, activation_bytes: 3 * (4 + 256 * 4) });
    let expert = 512 * 256 * 2;
    let one = cost(ExpertMatmul { weight: EXPERTS }, &[tokens(256), indices(1)]);
    assert_eq!((one.macs, one.weight_bytes), (3 * 512 * 256, 3 * expert));
    // Three tokens with two experts each can meet all four of them, and no more.
    let two = cost(ExpertMatmul { weight: EXPERTS }, &[several(2, 256), indices(2)]);
    assert_eq!((two.macs, two.weight_bytes), (6 * 512 * 256, 4 * expert));
    let combine = cost(ExpertCombine, &[several(2, 256), tokens(2)]);
    assert_eq!((combine.macs, combine.weight_bytes), (6 * 256, 0));
}

#[test]
fn moving_costs_bytes_alone() {
    let sum = cost(Add, &[several(2, 10); 2]);
    assert_eq!(sum, Cost { macs: 0, weight_bytes: 0, activation_bytes: 3 * 3 * 2 * 10 * 4 });
    let fixed = TensorType::f32(Rows::Fixed(5), 256);
    let quantize = cost(QuantizeRows { dtype: DType::Q8_K }, &[fixed]);
    assert_eq!(quantize.activation_bytes, 5 * (256 * 4 + 256 + 4 + 16 * 2));
}

#[test]
fn attention_counts_a_partition_or_a_window() {
    let op = |state| Attention { state, heads: 8, scale: 0.5, soft_cap: None, sinks: None };
    let pages = TensorType::i32(Rows::Fixed(2), 3);
    let work = TensorType::i32(Rows::Fixed(7), 6);
    let inputs = [tokens(256), indices(1), pages, work];
    assert_eq!(cost(op(CACHE), &inputs).macs, 2 * 256 * 3 * 512);
    assert_eq!(cost(op(WINDOWED), &inputs).macs, 2 * 256 * 3 * 64);
}

#[test]
fn a_window_of_any_width_has_a_cost() {
    let mut tables = tables();
    let mut states = tables.states.to_vec();
    if let minfer_graph::StateDecl::Paged { window, .. } = &mut states[3] {
        *window = Some(usize::MAX);
    }
    tables.states = states.into();
    let op = Attention { state: StateId(3), heads: 8, scale: 0.5, soft_cap: None, sinks: None };
    let op = Op::from(op);
    assert_eq!(op.def().macs(&[tokens(256)], &tables, &COUNTS), u64::MAX);
}

#[test]
fn operands_of_weights_are_told_apart() {
    let group = MatmulGroup {
        members: vec![Member { operand: 1, ..Member::new(Q, None) }, Member::new(K, None)],
    };
    let weights = |op: &Op, operand| op.matmul_weights(operand);
    let group = Op::from(group);
    assert_eq!((weights(&group, 0), weights(&group, 1)), (vec![K], vec![Q]));
    let expert = Op::from(ExpertMatmul { weight: EXPERTS });
    assert_eq!((weights(&expert, 0), weights(&expert, 1)), (vec![EXPERTS], vec![]));
    let embed = Op::from(Embed { weight: EMBED });
    assert_eq!(weights(&embed, 0), Vec::<WeightId>::new());
}
