//! A `matmul_group` of q, k and v, norms of q and k where present, `rope` of both and `kv_store` →
//! `qkv`.

use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::qkv::Qkv;
use minfer_graph::op::rope::Rope;
use minfer_graph::{Op, ValueId};

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let store = view.node(node);
    let Op::KvStore(op) = &store.op else { return None };
    let [k, v, slots] = store.inputs[..] else { return None };
    let (index, group) = view.sole(v)?;
    let Op::MatmulGroup(matmul) = &group.op else { return None };
    let [q_out, k_out, v_out] = group.outputs[..] else { return None };
    view.sole(k)?;
    let k = turned(view, k)?;
    let q = (index + 1..node).find_map(|n| {
        let outputs = &view.node(n).outputs;
        let [value] = outputs[..] else { return None };
        turned(view, value).filter(|turned| turned.from == q_out)
    })?;
    let same = k.from == k_out && v == v_out && q.positions == k.positions && q.rope == k.rope;
    if !same || q.norm.is_some() != k.norm.is_some() {
        return None;
    }
    let norms = q.norm.clone().zip(k.norm.clone()).map(|(q, k)| [q, k]);
    let mut inputs = group.inputs.clone();
    inputs.extend([q.positions, slots]);
    let mut swallowed = vec![index];
    swallowed.extend(q.nodes.iter().chain(&k.nodes));
    let op = Qkv {
        members: matmul.members.clone(),
        input_norm: None,
        norms,
        rope: q.rope.clone(),
        state: op.state,
    };
    Some(Match { swallowed, op: op.into(), inputs, outputs: vec![q.value] })
}

/// A rotated, perhaps normed, output of the group.
struct Turned<'a> {
    value: ValueId,
    from: ValueId,
    positions: ValueId,
    rope: &'a Rope,
    norm: Option<QkNorm>,
    nodes: Vec<usize>,
}

fn turned<'a>(view: &View<'a>, value: ValueId) -> Option<Turned<'a>> {
    let (index, node) = view.producer(value)?;
    let Op::Rope(rope) = &node.op else { return None };
    let [x, positions] = node.inputs[..] else { return None };
    let (before, producer) = view.sole(x)?;
    match &producer.op {
        Op::QkNorm(norm) => {
            view.sole(producer.inputs[0])?;
            let nodes = vec![index, before];
            let norm = Some(norm.clone());
            Some(Turned { value, from: producer.inputs[0], positions, rope, norm, nodes })
        }
        Op::MatmulGroup(_) => {
            Some(Turned { value, from: x, positions, rope, norm: None, nodes: vec![index] })
        }
        _other => None,
    }
}
