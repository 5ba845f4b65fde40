//! The device's answer to each op: its launches. One file per op or family; the matches name every
//! op, so the compiler lists what a new one still needs.

pub(crate) mod attention;
mod elementwise;
mod embed;
mod expert_matmul;
mod gate_up;
mod kv_store;
pub(crate) mod matmul;
mod operands;
mod qkv;
mod rms_norm;
mod rope;
mod select;

use minfer_graph::Op;
use minfer_graph::op::matmul::Member;
use minfer_plan::{Io, Unsupported};

use crate::caps::Limits;
use crate::dispatch::{Dispatch, Slot};
use crate::target::MetalTarget;

const NEVER_QUANTIZED: &str = "activations stay f32: there is no 8-bit matrix path to feed";
const NOT_FUSED: &str =
    "its parts are launched one by one: the norm is shared by all rows of weights";

/// The launches of `op` on a target, in order, or why it cannot run it.
pub fn dispatches(
    op: &Op,
    io: &Io<'_>,
    target: &MetalTarget,
) -> Result<Vec<Dispatch>, Unsupported> {
    let one = |dispatch: Dispatch| Ok(vec![dispatch]);
    let outputs: Vec<Slot> = (0..io.outputs.len()).map(Slot::Output).collect();
    let dispatches = match op {
        Op::Embed(op) => embed::lower(op, io),
        Op::GetRows(_) => one(elementwise::get_rows(io)),
        Op::Matmul(op) => {
            matmul::lower(&[Member::new(op.weight, op.bias)], &outputs, io, target.staging())
        }
        Op::MatmulGroup(op) => matmul::lower(&op.members, &outputs, io, target.staging()),
        Op::Add(_) => one(elementwise::binary("add", io)),
        Op::Mul(_) => one(elementwise::binary("mul", io)),
        Op::Scale(op) => one(elementwise::scale(op, io)),
        Op::Unary(op) => one(elementwise::unary(op, io)),
        Op::RmsNorm(op) => rms_norm::rms_norm(op, io),
        Op::QkNorm(op) => rms_norm::qk_norm(op, io),
        Op::Rope(op) => one(rope::lower(op, io)),
        Op::KvStore(op) => kv_store::lower(op, io),
        Op::Attention(op) => attention::lower(op, io, target.staging()),
        Op::Softmax(_) => one(select::softmax(io)),
        Op::Route(op) => one(select::route(op, io)),
        Op::ExpertMatmul(op) => expert_matmul::lower(op, io),
        Op::ExpertCombine(_) => one(elementwise::expert_combine(io)),
        Op::Argmax(_) => one(select::argmax(io)),
        Op::TopK(op) => one(select::top_k(op, io)),
        Op::Glu(op) => one(elementwise::glu(op.function, [Slot::Input(0), Slot::Input(1)], io)),
        Op::AddNorm(op) => rms_norm::add_norm(op, io),
        Op::QuantizeRows(_) | Op::NormQuantize(_) | Op::GluQuantize(_) => {
            Err(Unsupported::because(NEVER_QUANTIZED))
        }
        Op::Qkv(op) => qkv::lower(op, io, target.staging()),
        Op::GateUp(op) => gate_up::lower(op, io, target.staging()),
        Op::NormMatmul(_) => Err(Unsupported::because(NOT_FUSED)),
    }?;
    for dispatch in &dispatches {
        check_limits(dispatch, target.limits())?;
    }
    Ok(dispatches)
}

/// Bytes of scratch memory that launches share.
pub(crate) fn scratch(dispatches: &[Dispatch]) -> usize {
    let slots = dispatches.iter().flat_map(|dispatch| &dispatch.buffers);
    let ends = slots.map(|slot| if let Slot::Scratch(bytes) = slot { bytes.end } else { 0 });
    ends.max().unwrap_or(0)
}

/// Whether the device can launch it at all.
fn check_limits(dispatch: &Dispatch, limits: &Limits) -> Result<(), Unsupported> {
    let Dispatch { kernel, threads, threadgroup_memory, .. } = dispatch;
    if *threads > limits.threads_per_threadgroup {
        return Err(Unsupported::because(format!(
            "{kernel} needs {threads} threads in a threadgroup, {} has at most {}",
            limits.name, limits.threads_per_threadgroup
        )));
    }
    if *threadgroup_memory > limits.threadgroup_memory {
        return Err(Unsupported::because(format!(
            "{kernel} needs {threadgroup_memory} bytes of threadgroup memory, {} has at most {}",
            limits.name, limits.threadgroup_memory
        )));
    }
    Ok(())
}
