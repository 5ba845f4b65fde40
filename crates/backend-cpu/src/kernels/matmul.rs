//! `matmul`: activations times a transposed weight matrix, plus an optional bias.

use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::{TensorType, WeightDecl};
use minfer_plan::{Io, Launch, Layout, Unsupported};
use minfer_quant::DType;

use super::matmul_group;
use crate::call::Call;
use crate::product;
use crate::sys::Fault;

pub(super) fn lower(op: &Matmul, io: &Io<'_>, threads: usize) -> Result<Launch, Unsupported> {
    let weight = io.tables.weight(op.weight);
    check(io, &Member::new(op.weight, op.bias), io.inputs[0])?;
    let pair = pair(weight, io.inputs[0]);
    let scratch = scratch(weight, io.inputs[0], threads);
    Ok(Launch::simple(format!("matmul.{pair}"), why(io.inputs[0])).with_scratch(scratch))
}

pub(super) fn run(op: &Matmul, call: &mut Call<'_>) -> Result<(), Fault> {
    matmul_group::products(&[Member::new(op.weight, op.bias)], call)
}

/// Formats of weight and activations.
pub(super) fn pair(weight: &WeightDecl, x: TensorType) -> String {
    format!("{}.{}", weight.quant.name(), x.dtype.name())
}

/// The row of the variants table.
pub(super) fn why(x: TensorType) -> &'static str {
    if x.dtype == DType::F32 {
        "float activations: sixteen weight rows at a time, decoded where they are no floats"
    } else {
        "integer activations: weight rows side by side, unpacked once for many tokens"
    }
}

/// Bytes of room that the workers need.
pub(super) fn scratch(weight: &WeightDecl, x: TensorType, threads: usize) -> usize {
    threads * product::room(weight.cols, x.dtype) * size_of::<f32>()
}

/// Whether a weight can be multiplied by activations of this type.
pub(super) fn check(io: &Io<'_>, member: &Member, x: TensorType) -> Result<(), Unsupported> {
    let weight = io.tables.weight(member.weight);
    if io.layout(member.weight) != Layout::File {
        let layout = io.layout(member.weight).name();
        return Err(Unsupported::because(format!("{} is laid out as {layout}", weight.name)));
    }
    if !weight.quant.takes(x.dtype) {
        let pair = pair(weight, x);
        return Err(Unsupported::because(format!("no dot product of {pair}")));
    }
    Ok(())
}
