//! Chooses the type in which each matmul takes its activations: asks the target per (op, weight),
//! inserts one `quantize_rows` per value and type, and shares it among all readers on that target.

use std::collections::HashMap;

use minfer_graph::op::matmul::Member;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_graph::{Node, Op, TensorType, ValueId};
use minfer_quant::DType;

use crate::error::Error;
use crate::place::TargetId;
use crate::program::Draft;

pub(crate) fn choose(draft: &mut Draft<'_>) -> Result<(), Error> {
    let nodes = std::mem::take(&mut draft.graph.nodes);
    let mut pass =
        Pass { draft, converted: HashMap::new(), nodes: Vec::with_capacity(nodes.len()) };
    for (index, mut node) in nodes.into_iter().enumerate() {
        let target = pass.draft.placed[index];
        // Only operand 0 of an op is ever multiplied by weights.
        let wanted = pass.wanted(index, &node);
        pass.retype(&mut node, target, &wanted);
        pass.nodes.push((node, target));
    }
    let Pass { draft, nodes, .. } = pass;
    draft.replace(nodes)
}

struct Pass<'a, 'b> {
    draft: &'a mut Draft<'b>,
    converted: HashMap<(ValueId, DType, TargetId), ValueId>,
    nodes: Vec<(Node, TargetId)>,
}

impl Pass<'_, '_> {
    /// The types that the node's weights want operand 0 in, one per weight applied to it.
    fn wanted(&self, index: usize, node: &Node) -> Vec<DType> {
        let float =
            node.inputs.first().is_some_and(|&x| self.draft.graph.ty(x).dtype == DType::F32);
        if !float {
            return Vec::new();
        }
        let target = self.draft.target(index).target;
        let tables = &self.draft.graph.tables;
        let weights = node.op.matmul_weights(0);
        weights.iter().map(|&id| target.operand(&node.op, tables.weight(id))).collect()
    }

    /// Gives the node its activations in each wanted type, as operands 0, 1, …, and points members
    /// to theirs.
    fn retype(&mut self, node: &mut Node, target: TargetId, wanted: &[DType]) {
        let mut distinct: Vec<DType> = Vec::new();
        for &dtype in wanted {
            if !distinct.contains(&dtype) {
                distinct.push(dtype);
            }
        }
        if distinct.is_empty() {
            return;
        }
        let x = node.inputs[0];
        let operands: Vec<ValueId> =
            distinct.iter().map(|&dtype| self.convert(x, dtype, target, node)).collect();
        node.inputs.splice(0..1, operands);
        let members = members(&mut node.op).iter_mut();
        for (member, dtype) in members.zip(wanted) {
            member.operand = distinct.iter().position(|d| d == dtype).unwrap_or(0);
        }
    }

    fn convert(&mut self, x: ValueId, dtype: DType, target: TargetId, reader: &Node) -> ValueId {
        if dtype == DType::F32 {
            return x;
        }
        if let Some(&known) = self.converted.get(&(x, dtype, target)) {
            return known;
        }
        let from = self.draft.graph.ty(x);
        let value = self.draft.graph.add_value(TensorType::new(dtype, from.rows, from.cols));
        let node = Node {
            op: QuantizeRows { dtype }.into(),
            inputs: vec![x],
            outputs: vec![value],
            layer: reader.layer,
            name: format!("{}.{}", reader.name, dtype.name()),
        };
        self.nodes.push((node, target));
        self.converted.insert((x, dtype, target), value);
        value
    }
}

fn members(op: &mut Op) -> &mut [Member] {
    match op {
        Op::MatmulGroup(op) => &mut op.members,
        Op::Qkv(op) => &mut op.members,
        Op::GateUp(op) => &mut op.members,
        _single => &mut [],
    }
}
