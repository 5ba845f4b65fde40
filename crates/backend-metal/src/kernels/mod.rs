//! The device's answer to each op: its launches. One file per op, with its kernels' source beside
//! it; the matches name every op, so the compiler lists what a new one still needs.

mod add;
mod add_norm;
mod argmax;
pub(crate) mod attention;
mod embed;
mod expert_combine;
mod expert_gate_up;
pub(crate) mod expert_matmul;
mod gate_up;
mod get_rows;
mod glu;
mod kv_store;
mod launch;
pub(crate) mod matmul;
mod matmul_add;
mod matmul_group;
mod mul;
mod norm_add;
mod norm_matmul;
mod operands;
mod qk_norm;
mod qkv;
mod rms_norm;
mod rope;
mod route;
mod scale;
mod softmax;
mod top_k;
mod unary;

use minfer_graph::Op;
use minfer_plan::{Io, Unsupported};

use crate::caps::Limits;
use crate::dispatch::{Dispatch, Slot};
use crate::target::MetalTarget;

const NEVER_QUANTIZED: &str = "activations stay f32: there is no 8-bit matrix path to feed";

/// The launches of `op` on a target, in order, or why it cannot run it.
pub fn dispatches(
    op: &Op,
    io: &Io<'_>,
    target: &MetalTarget,
) -> Result<Vec<Dispatch>, Unsupported> {
    let how = target.how();
    let dispatches = match op {
        Op::Embed(op) => embed::lower(op, io),
        Op::GetRows(_) => get_rows::lower(io),
        Op::Matmul(op) => matmul::lower(op, io, how),
        Op::MatmulGroup(op) => matmul_group::lower(op, io, how),
        Op::Add(_) => add::lower(io),
        Op::Mul(_) => mul::lower(io),
        Op::Scale(op) => scale::lower(op, io),
        Op::Unary(op) => unary::lower(op, io),
        Op::RmsNorm(op) => rms_norm::lower(op, io, how),
        Op::QkNorm(op) => qk_norm::lower(op, io, how),
        Op::Rope(op) => rope::lower(op, io),
        Op::KvStore(op) => kv_store::lower(op, io),
        Op::Attention(op) => attention::lower(op, io, target),
        Op::Softmax(_) => softmax::lower(io),
        Op::Route(op) => route::lower(op, io),
        Op::ExpertMatmul(op) => expert_matmul::lower(op, io, how),
        Op::ExpertCombine(_) => expert_combine::lower(io),
        Op::Argmax(_) => argmax::lower(io),
        Op::TopK(op) => top_k::lower(op, io),
        Op::Glu(op) => glu::lower(op, io),
        Op::AddNorm(op) => add_norm::lower(op, io, how),
        Op::QuantizeRows(_) | Op::NormQuantize(_) | Op::GluQuantize(_) => {
            Err(Unsupported::because(NEVER_QUANTIZED))
        }
        Op::Qkv(op) => qkv::lower(op, io, how),
        Op::GateUp(op) => gate_up::lower(op, io, how),
        Op::ExpertGateUp(op) => expert_gate_up::lower(op, io, how),
        Op::NormMatmul(op) => norm_matmul::lower(op, io, how),
        Op::NormAdd(op) => norm_add::lower(op, io, how),
        Op::MatmulAdd(op) => matmul_add::lower(op, io, how),
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
