//! `gate_up`: the first half of a gated feed-forward block.

use minfer_graph::op::gate_up::GateUp;
use minfer_graph::op::matmul::Member;
use minfer_plan::{Io, Unsupported};

use super::glu;
use super::launch::code;
use super::matmul::{self, Around, few_shape, taken_in};
use super::operands::{check_matrix, check_vector, row_bytes};
use crate::arguments::GateUpArguments;
use crate::dispatch::{Dispatch, Grid, Slot};
use crate::instances::few_name;
use crate::tune::How;

/// Why a norm is not taken in.
const NOT_AT_ONCE: &str =
    "the norm is launched by itself: more than 8 rows, or matrices of two formats";

/// One launch where few rows meet two matrices of one format; else both products, up's into scratch
/// memory, and the activation.
pub(super) fn lower(op: &GateUp, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    if let [gate, up] = &op.members[..]
        && let Some(dispatch) = fused(op, [gate, up], io, how)?
    {
        return Ok(vec![dispatch]);
    }
    if op.input_norm.is_some() {
        return Err(Unsupported::because(NOT_AT_ONCE));
    }
    let bytes = io.outputs[0].bytes(&io.tables.shape);
    let up = Slot::Scratch(0..bytes);
    let outputs = [Slot::Output(0), up.clone()];
    let mut dispatches = matmul::products(&op.members, &outputs, &Around::default(), io, how)?;
    dispatches.push(glu::product(op.function, [Slot::Output(0), up], io));
    Ok(dispatches)
}

fn fused(
    op: &GateUp,
    [gate, up]: [&Member; 2],
    io: &Io<'_>,
    how: How,
) -> Result<Option<Dispatch>, Unsupported> {
    let x = io.inputs[gate.operand];
    let weights = [gate, up].map(|member| io.tables.weight(member.weight));
    let alike = weights[0].quant == weights[1].quant && gate.operand == up.operand;
    let Some(few) = few_shape(x.rows, io, how).filter(|_| alike) else {
        return Ok(None);
    };
    for member in [gate, up] {
        check_matrix(io, member.weight, x)?;
        member.bias.map_or(Ok(()), |bias| check_vector(io, bias))?;
    }
    let (norm, has_norm, eps) = taken_in(op.input_norm.as_ref(), io)?;
    let (function, factor) = code(op.function);
    let arguments = GateUpArguments {
        cols: weights[0].cols as u32,
        outputs: weights[0].rows as u32,
        row_bytes: row_bytes(io, gate.weight)?,
        has_gate_bias: u32::from(gate.bias.is_some()),
        has_up_bias: u32::from(up.bias.is_some()),
        has_norm,
        eps,
        function,
        factor,
    };
    let rows = few.weight_rows * how.tune.matmul_simdgroups as usize;
    let bias = |member: &Member| member.bias.map_or(Slot::Unused, Slot::Weight);
    Ok(Some(Dispatch {
        kernel: few_name("gate_up", weights[0].quant, few),
        why: "few rows: both products and the activation at once",
        buffers: vec![
            Slot::Input(gate.operand),
            Slot::Weight(gate.weight),
            Slot::Weight(up.weight),
            bias(gate),
            bias(up),
            Slot::Output(0),
            norm,
        ],
        arguments: arguments.bytes(),
        grid: Grid {
            x: weights[0].rows.div_ceil(rows) as u32,
            rows: x.rows,
            per_group: few.rows as u32,
            spare: 0,
            z: 1,
        },
        threads: 32 * how.tune.matmul_simdgroups,
        threadgroup_memory: 0,
    }))
}
