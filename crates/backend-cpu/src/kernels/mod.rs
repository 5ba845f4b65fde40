//! The device's answer to each op: how it is launched, and the kernel. One file per op; both
//! matches name every op, so the compiler lists what a new one still needs.

mod add;
mod add_norm;
mod argmax;
mod attention;
mod embed;
mod expert_combine;
mod expert_matmul;
mod get_rows;
mod glu;
mod glu_quantize;
mod kv_store;
mod matmul;
mod matmul_group;
mod mul;
mod norm_quantize;
mod qk_norm;
pub(crate) mod quant;
mod quantize_rows;
mod rms_norm;
mod rope;
mod route;
mod scale;
mod softmax;
mod top_k;
mod unary;

use minfer_graph::Op;
use minfer_plan::{Io, Launch, Unsupported};

use crate::call::Call;
use crate::sys::Fault;

const OTHER_ROUNDINGS: &str = "it rounds otherwise than its parts, whose numbers the CPU keeps";
const NOTHING_TO_GAIN: &str = "its parts run as fast: a launch costs a CPU next to nothing";

/// How `op` is launched with so many threads, or why it cannot be.
pub(crate) fn lower(op: &Op, io: &Io<'_>, threads: usize) -> Result<Launch, Unsupported> {
    let by_rows = |name: &str| Ok(Launch::simple(format!("{name}.f32"), "row by row"));
    match op {
        Op::Embed(op) => embed::lower(op, io),
        Op::GetRows(_) => by_rows("get_rows"),
        Op::QuantizeRows(op) => quantize_rows::lower(op),
        Op::Matmul(op) => matmul::lower(op, io, threads),
        Op::MatmulGroup(op) => matmul_group::lower(op, io, threads),
        Op::Add(_) => by_rows("add"),
        Op::Mul(_) => by_rows("mul"),
        Op::Scale(_) => by_rows("scale"),
        Op::Unary(_) => by_rows("unary"),
        Op::RmsNorm(_) => by_rows("rms_norm"),
        Op::QkNorm(_) => by_rows("qk_norm"),
        Op::Rope(_) => by_rows("rope"),
        Op::KvStore(op) => kv_store::lower(op, io),
        Op::Attention(op) => attention::lower(op, io, threads),
        Op::Softmax(_) => by_rows("softmax"),
        Op::Route(_) => by_rows("route"),
        Op::ExpertMatmul(op) => expert_matmul::lower(op, io, threads),
        Op::ExpertCombine(_) => by_rows("expert_combine"),
        Op::Argmax(_) => by_rows("argmax"),
        Op::TopK(_) => by_rows("top_k"),
        Op::Glu(_) => by_rows("glu"),
        Op::AddNorm(_) => by_rows("add_norm"),
        Op::NormQuantize(op) => norm_quantize::lower(op, io, threads),
        Op::GluQuantize(op) => glu_quantize::lower(op, io, threads),
        Op::NormMatmul(_) => Err(Unsupported::because(OTHER_ROUNDINGS)),
        Op::Qkv(_) | Op::GateUp(_) | Op::ExpertGateUp(_) | Op::NormAdd(_) | Op::MatmulAdd(_) => {
            Err(Unsupported::because(NOTHING_TO_GAIN))
        }
    }
}

/// Runs a launch that [`lower`] gave.
pub(crate) fn run(call: &mut Call<'_>) -> Result<(), Fault> {
    let graph = call.graph;
    let node = call.node;
    debug_assert!(node.inputs.iter().all(|id| (id.0 as usize) < graph.values.len()));
    match &node.op {
        Op::Embed(op) => embed::run(op, call),
        Op::GetRows(_) => get_rows::run(call),
        Op::QuantizeRows(op) => quantize_rows::run(op, call),
        Op::Matmul(op) => matmul::run(op, call),
        Op::MatmulGroup(op) => matmul_group::run(op, call),
        Op::Add(_) => add::run(call),
        Op::Mul(_) => mul::run(call),
        Op::Scale(op) => scale::run(op, call),
        Op::Unary(op) => unary::run(op, call),
        Op::RmsNorm(op) => rms_norm::run(op, call),
        Op::QkNorm(op) => qk_norm::run(op, call),
        Op::Rope(op) => rope::run(op, call),
        Op::KvStore(op) => kv_store::run(op, call),
        Op::Attention(op) => attention::run(op, call),
        Op::Softmax(_) => softmax::run(call),
        Op::Route(op) => route::run(op, call),
        Op::ExpertMatmul(op) => expert_matmul::run(op, call),
        Op::ExpertCombine(_) => expert_combine::run(call),
        Op::Argmax(_) => argmax::run(call),
        Op::TopK(op) => top_k::run(op, call),
        Op::Glu(op) => glu::run(op, call),
        Op::AddNorm(op) => add_norm::run(op, call),
        Op::NormQuantize(op) => norm_quantize::run(op, call),
        Op::GluQuantize(op) => glu_quantize::run(op, call),
        Op::NormMatmul(_)
        | Op::Qkv(_)
        | Op::GateUp(_)
        | Op::ExpertGateUp(_)
        | Op::NormAdd(_)
        | Op::MatmulAdd(_) => {
            Err(Fault::Failed(format!("{} was refused when lowered", node.op.kind().name())))
        }
    }
}
