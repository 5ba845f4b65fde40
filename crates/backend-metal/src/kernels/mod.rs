//! The device's answer to each op: its launches. One file per op or family; the matches name every
//! op, so the compiler lists what a new one still needs.

pub(crate) mod attention;
mod elementwise;
mod embed;
mod expert_matmul;
mod kv_store;
pub(crate) mod matmul;
mod rms_norm;
mod rope;
mod select;

use minfer_graph::op::matmul::Member;
use minfer_graph::{Op, StateDecl, StateId, TensorType, WeightId};
use minfer_plan::{Io, Layout, Unsupported};
use minfer_quant::{DType, KvType, Quant};

use crate::caps::Limits;
use crate::dispatch::Dispatch;
use crate::target::MetalTarget;

const NEVER_QUANTIZED: &str = "activations stay f32: there is no 8-bit matrix path to feed";
const NOT_FUSED: &str = "its parts are launched one by one";

/// The launches of `op` on a target, in order, or why it cannot run it.
pub fn dispatches(
    op: &Op,
    io: &Io<'_>,
    target: &MetalTarget,
) -> Result<Vec<Dispatch>, Unsupported> {
    let one = |dispatch: Dispatch| Ok(vec![dispatch]);
    let dispatches = match op {
        Op::Embed(op) => embed::lower(op, io),
        Op::GetRows(_) => one(elementwise::get_rows(io)),
        Op::Matmul(op) => matmul::lower(&[Member::new(op.weight, op.bias)], io, target.staging()),
        Op::MatmulGroup(op) => matmul::lower(&op.members, io, target.staging()),
        Op::Add(_) => one(elementwise::binary("add", None, io)),
        Op::Mul(_) => one(elementwise::binary("mul", None, io)),
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
        Op::Glu(op) => one(elementwise::binary("glu", Some(op.function), io)),
        Op::AddNorm(op) => rms_norm::add_norm(op, io),
        Op::QuantizeRows(_) | Op::NormQuantize(_) | Op::GluQuantize(_) => {
            Err(Unsupported::because(NEVER_QUANTIZED))
        }
        Op::NormMatmul(_) | Op::Qkv(_) | Op::GateUp(_) => Err(Unsupported::because(NOT_FUSED)),
    }?;
    for dispatch in &dispatches {
        check_limits(dispatch, target.limits())?;
    }
    Ok(dispatches)
}

/// Bytes of scratch memory that the launches of `op` share.
pub(crate) fn scratch(op: &Op, io: &Io<'_>) -> usize {
    if let Op::Attention(op) = op { attention::scratch(op, io) } else { 0 }
}

/// A paged state: what `StateDecl::Paged` holds, and the bytes of its pages.
struct Paged {
    kv_heads: usize,
    head_dim: usize,
    key: KvType,
    value: KvType,
    window: Option<usize>,
    key_page_bytes: u32,
    value_page_bytes: u32,
}

impl Paged {
    fn of(io: &Io<'_>, id: StateId) -> Result<Paged, Unsupported> {
        let decl = io.tables.state(id);
        let StateDecl::Paged { kv_heads, head_dim, key, value, window, .. } = *decl else {
            return Err(Unsupported::because("a state without pages"));
        };
        let bytes = |bytes: usize| {
            u32::try_from(bytes).map_err(|_| {
                Unsupported::because(format!("pages of {bytes} bytes, at most {} fit", u32::MAX))
            })
        };
        let key_page_bytes = bytes(decl.key_page_bytes())?;
        let value_page_bytes = bytes(decl.value_page_bytes())?;
        Ok(Paged { kv_heads, head_dim, key, value, window, key_page_bytes, value_page_bytes })
    }
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

/// Whether a matrix can be multiplied by activations of this type.
fn check_matrix(io: &Io<'_>, id: WeightId, x: TensorType) -> Result<(), Unsupported> {
    let weight = io.tables.weight(id);
    if io.layout(id) != Layout::File {
        let layout = io.layout(id).name();
        return Err(Unsupported::because(format!("{} is laid out as {layout}", weight.name)));
    }
    if x.dtype != DType::F32 {
        let (found, name) = (x.dtype.name(), &weight.name);
        return Err(Unsupported::because(format!("{name} times {found}: {NEVER_QUANTIZED}")));
    }
    Ok(())
}

/// Whether a vector (norm, bias, sinks) is one that kernels read as it is.
fn check_vector(io: &Io<'_>, id: WeightId) -> Result<(), Unsupported> {
    let weight = io.tables.weight(id);
    if weight.quant == Quant::F32 {
        return Ok(());
    }
    let (name, found) = (&weight.name, weight.quant.name());
    Err(Unsupported::because(format!("vectors are read as f32, {name} is {found}")))
}

/// Bytes of a row of a weight.
fn row_bytes(io: &Io<'_>, id: WeightId) -> Result<u32, Unsupported> {
    let weight = io.tables.weight(id);
    let bytes = weight.quant.row_bytes(weight.cols);
    let bytes = bytes.map_err(|error| Unsupported::because(format!("{}: {error}", weight.name)))?;
    u32::try_from(bytes).map_err(|_| {
        let name = &weight.name;
        Unsupported::because(format!("{name}: rows of {bytes} bytes, at most {} fit", u32::MAX))
    })
}
