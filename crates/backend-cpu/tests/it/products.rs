//! Products of every weight format, around the edges of tiles.

use minfer_graph::op::embed::Embed;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::{Input, OutputKind};
use minfer_quant::{KvType, Quant};

use crate::harness::{Case, WeightList, check};

/// An embedding, three products of one width together and one alone, with and without bias.
fn case(quant: Quant, rows: [usize; 4], cols: usize) -> Case {
    let mut weights = WeightList::default();
    let table = weights.add(Quant::F32, 1, 50, cols);
    let members = rows.map(|rows| {
        let weight = weights.add(quant, 1, rows, cols);
        let bias = (rows % 2 == 0).then(|| weights.add(Quant::F32, 1, 1, rows));
        Member::new(weight, bias)
    });
    let build = move |builder: &mut minfer_graph::Builder| {
        let ids = builder.input(Input::Tokens);
        let x = builder.push_one("embed", Embed { weight: table }, &[ids]).unwrap();
        let [members @ .., alone] = &members;
        builder.push("group", MatmulGroup { members: members.to_vec() }, &[x]).unwrap();
        let rows = builder.input(Input::OutputRows);
        let x = builder.push_one("rows", GetRows, &[x, rows]).unwrap();
        let op = Matmul::new(alone.weight, alone.bias);
        let y = builder.push_one("matmul", op, &[x]).unwrap();
        builder.output(OutputKind::Logits, y);
    };
    Case { weights, states: Vec::new(), build: Box::new(build) }
}

const TOKENS: [(usize, usize); 11] =
    [(0, 1), (0, 2), (0, 7), (0, 8), (0, 9), (0, 15), (0, 16), (0, 17), (0, 31), (0, 32), (0, 33)];

#[test]
fn every_format_on_the_fast_path() {
    for quant in Quant::ALL.iter().copied() {
        check(&case(quant, [1, 9, 17, 64], 256), KvType::F16, false, &[(0, 1), (0, 33)]);
    }
}

#[test]
fn every_format_on_the_exact_path() {
    for quant in Quant::ALL.iter().copied() {
        check(&case(quant, [3, 8, 16, 65], 256), KvType::F16, true, &[(0, 1), (0, 5)]);
    }
}

#[test]
fn the_edges_of_tiles() {
    for quant in [Quant::Q4_1, Quant::Q6_K] {
        for rows in [[2, 3, 4, 5], [6, 7, 8, 15], [63, 16, 33, 66]] {
            check(&case(quant, rows, 256), KvType::F16, false, &TOKENS);
        }
    }
}

#[test]
fn widths_that_fill_no_vector() {
    for (quant, cols) in [(Quant::F16, 50), (Quant::BF16, 17), (Quant::F32, 3)] {
        check(&case(quant, [1, 2, 5, 9], cols), KvType::F16, false, &[(0, 1), (0, 4)]);
    }
    check(&case(Quant::Q4_0, [1, 2, 5, 9], 96), KvType::F16, false, &[(0, 1), (0, 4)]);
    check(&case(Quant::Q3_K, [1, 2, 5, 9], 768), KvType::F16, false, &[(0, 1), (0, 4)]);
}
