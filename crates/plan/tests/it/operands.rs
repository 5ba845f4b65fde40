//! The types in which matmuls take their activations.

use minfer_graph::op::matmul::Matmul;
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::{Graph, Op, OutputKind};
use minfer_plan::Options;
use minfer_quant::DType;

use crate::target::*;
use crate::world::*;

/// q, k and v of one value, gate and up of the same, and q again.
fn graph() -> Graph {
    let mut b = builder();
    let x = embed(&mut b);
    b.layer(Some(0));
    group(&mut b, &[Q, K, V], x);
    b.layer(Some(1));
    group(&mut b, &[GATE, UP], x);
    b.layer(Some(2));
    let q = b.push_one("q", Matmul::new(Q, None), &[x]).unwrap();
    b.output(OutputKind::Logits, q);
    b.finish().unwrap()
}

/// What each matmul takes: types of its operands, and the operand of each member.
fn taken(graph: &Graph) -> Vec<(Vec<DType>, Vec<usize>)> {
    let matmuls = graph.nodes.iter().filter_map(|node| {
        let operands = match &node.op {
            Op::MatmulGroup(MatmulGroup { members }) => members.iter().map(|m| m.operand).collect(),
            Op::Matmul(_) => vec![0],
            _other => return None,
        };
        Some((graph.types(&node.inputs).iter().map(|ty| ty.dtype).collect(), operands))
    });
    matmuls.collect()
}

fn quantizers(graph: &Graph) -> usize {
    kinds(graph).iter().filter(|kind| **kind == "quantize_rows").count()
}

#[test]
fn one_conversion_serves_all_readers_of_a_value_and_type() {
    let target = Switches::new("a").wanting(blocks);
    let program = plan_whole(&graph(), &target, &only(&[])).unwrap();
    use DType::{Q8_0, Q8_K};
    assert_eq!(
        taken(&program.graph),
        [(vec![Q8_0, Q8_K], vec![0, 0, 1]), (vec![Q8_0], vec![0, 0]), (vec![Q8_0], vec![0]),]
    );
    assert_eq!(
        kinds(&program.graph),
        ["embed", "quantize_rows", "quantize_rows", "matmul_group", "matmul_group", "matmul"]
    );
    assert_eq!(program.graph.nodes[1].name, "group.q8_0");
    assert_eq!(program.graph.nodes[1].layer, Some(0));
}

#[test]
fn each_target_makes_its_own() {
    let (a, b) = (Switches::new("a").wanting(all_q8_0), Switches::new("b").wanting(all_q8_0));
    let program = plan_on_two(&graph(), [&a, &b], &[0, 1, 0], &only(&[])).unwrap();
    // One on each target: the third layer takes that of the first, across a border.
    assert_eq!(quantizers(&program.graph), 2);
    assert_eq!(program.splits.len(), 3);
    let imports: Vec<DType> =
        program.splits[2].imports.iter().map(|&v| program.graph.ty(v).dtype).collect();
    assert_eq!(imports, [DType::Q8_0]);
    crate::simulate::program(&program).unwrap();
}

#[test]
fn nothing_is_quantized_where_floats_are_wanted() {
    let floats = Switches::new("a");
    let program = plan_whole(&graph(), &floats, &only(&[])).unwrap();
    assert_eq!(quantizers(&program.graph), 0);
    let ints = Switches::new("a").wanting(blocks);
    let exact = Options { exact: true, ..only(&[]) };
    let program = plan_whole(&graph(), &ints, &exact).unwrap();
    assert_eq!(quantizers(&program.graph), 0);
    assert_eq!(*program.graph, graph());
}

#[test]
fn the_float_operand_stays_beside_the_quantized() {
    fn mixed(weight: &minfer_graph::WeightDecl) -> DType {
        if weight.name == "v" { DType::F32 } else { DType::Q8_0 }
    }
    let target = Switches::new("a").wanting(mixed);
    let program = plan_whole(&graph(), &target, &only(&[])).unwrap();
    assert_eq!(taken(&program.graph)[0], (vec![DType::Q8_0, DType::F32], vec![0, 0, 1]));
    assert_eq!(quantizers(&program.graph), 1);
}

/// A type that the activations' width does not allow is the target's fault, and an error.
#[test]
fn rows_that_do_not_fill_the_blocks_are_refused() {
    let mut b = builder();
    let x = embed(&mut b);
    let k = b.push_one("k", Matmul::new(K, None), &[x]).unwrap();
    b.push("of k", minfer_graph::op::scale::Scale { factor: 1.0 }, &[k]).unwrap();
    b.output(OutputKind::Logits, k);
    let target = Switches::new("a").wanting(|_| DType::F16);
    let error = plan_whole(&b.finish().unwrap(), &target, &only(&[])).unwrap_err();
    let text = "quantize_rows: expected a quantized target, q8_0, q8_k or q16_0, found f16";
    assert_eq!(error.to_string(), text);
}
