//! Shape-rule checks that several ops share.

use minfer_quant::DType;

use super::OPERAND_TYPES;
use crate::error::Error;
use crate::graph::Tables;
use crate::value::{Rows, StateDecl, StateId, TensorType, WeightId};

pub(crate) fn fail<T>(
    op: &'static str,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Result<T, Error> {
    Err(Error::Operand { op, expected: expected.into(), found: found.into() })
}

/// Exactly `N` operands.
pub(crate) fn operands<const N: usize>(
    op: &'static str,
    inputs: &[TensorType],
) -> Result<[TensorType; N], Error> {
    match <[TensorType; N]>::try_from(inputs) {
        Ok(operands) => Ok(operands),
        Err(_) => fail(op, format!("{N} operands"), format!("{}", inputs.len())),
    }
}

pub(crate) fn dtype(op: &'static str, ty: TensorType, dtype: DType) -> Result<(), Error> {
    if ty.dtype == dtype {
        Ok(())
    } else {
        fail(op, format!("a {} operand", dtype.name()), ty.to_string())
    }
}

pub(crate) fn equal(op: &'static str, a: TensorType, b: TensorType) -> Result<(), Error> {
    if a == b { Ok(()) } else { fail(op, format!("operands of one type, {a}"), b.to_string()) }
}

pub(crate) fn cols(op: &'static str, ty: TensorType, cols: usize) -> Result<(), Error> {
    if ty.cols == cols { Ok(()) } else { fail(op, format!("{cols} columns"), ty.to_string()) }
}

/// Operand with the given i32 type: ids, positions, slots.
pub(crate) fn index(
    op: &'static str,
    ty: TensorType,
    rows: Rows,
    cols: usize,
) -> Result<(), Error> {
    let expected = TensorType::i32(rows, cols);
    if ty == expected { Ok(()) } else { fail(op, expected.to_string(), ty.to_string()) }
}

/// A vector weight of `cols` elements.
pub(crate) fn vector(
    op: &'static str,
    tables: &Tables,
    id: WeightId,
    cols: usize,
) -> Result<(), Error> {
    let weight = tables.weight(id);
    if (weight.experts, weight.rows, weight.cols) == (1, 1, cols) {
        return Ok(());
    }
    let found = format!("{} [{}, {}, {}]", weight.name, weight.experts, weight.rows, weight.cols);
    fail(op, format!("a vector of {cols}"), found)
}

/// A matrix weight (of `experts`) applied to `x`; gives its output columns.
pub(crate) fn matrix(
    op: &'static str,
    tables: &Tables,
    id: WeightId,
    experts: usize,
    x: TensorType,
) -> Result<usize, Error> {
    if !OPERAND_TYPES.contains(&x.dtype) {
        return fail(op, "activations in f32, q8_0, q8_k or q16_0", x.to_string());
    }
    let weight = tables.weight(id);
    if weight.experts != experts || weight.cols != x.cols {
        let found =
            format!("{} [{}, {}, {}]", weight.name, weight.experts, weight.rows, weight.cols);
        return fail(op, format!("{experts} matrices of {} columns", x.cols), found);
    }
    Ok(weight.rows)
}

/// A paged state; gives (group, kv_heads, head_dim).
pub(crate) fn paged(
    op: &'static str,
    tables: &Tables,
    id: StateId,
) -> Result<(usize, usize, usize), Error> {
    match tables.states.get(id.0 as usize) {
        Some(StateDecl::Paged { group, kv_heads, head_dim, key, value, .. }) => {
            if key.row_bytes(*head_dim).is_err() || value.row_bytes(*head_dim).is_err() {
                return fail(
                    op,
                    "a KV type that suits the head size",
                    format!("{}/{} for heads of {head_dim}", key.name(), value.name()),
                );
            }
            Ok((*group, *kv_heads, *head_dim))
        }
        Some(StateDecl::PerSequence { .. }) => fail(op, "a paged state", "a per-sequence state"),
        None => fail(op, "a declared state", format!("state {}", id.0)),
    }
}
