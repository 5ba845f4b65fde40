//! `matmul`: by how many rows a step of this bucket can bring.
//!
//! | rows | kernel | why |
//! |---|---|---|
//! | 1 to 8 | `matmul_few` | bound by memory: each weight is read once, and nothing is staged |
//! | more | `matmul_many` | bound by arithmetic: simdgroup matrices over staged tiles |
//!
//! In steps of one kind the rows of prompts take the second and chosen tokens the first, eight at a
//! time, however many there are; and so do the rows that logits are asked of.
//!
//! The first takes up to three matrices of one format in a launch; `matmul_mixed` takes a row, two
//! matrices of one format and one of another.

use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::{Rows, StepKind};
use minfer_plan::{Io, Unsupported};

use super::operands::{check_matrix, check_vector, row_bytes};
use crate::arguments::{FewArguments, MatmulArguments};
use crate::caps::Staging;
use crate::dispatch::{Dispatch, Grid, Slot};
use crate::instances::{FEW, Few, MIXED, few_name, many_name, may_round, mixed_name};
use crate::tune::How;

/// Rows of activations and of the weight in a tile of the many-row kernel, and its step.
pub(super) const TILE: [usize; 3] = [32, 64, 32];

/// Threadgroup memory of a tile: both operands of a step and, for half, a scale for each row; then
/// the results in their place.
pub(super) fn tile_memory(half: bool) -> u32 {
    let [x_rows, w_rows, step] = TILE;
    let scales = if half { 4 * x_rows } else { 0 };
    let staged = (x_rows + w_rows) * step * if half { 2 } else { 4 } + scales;
    staged.max(x_rows * w_rows * 4) as u32
}

/// Matrices of one launch of the few-row kernel.
const FEW_MATRICES: usize = 3;

/// The shape for these rows of activations, of which a threadgroup takes as many as it has.
pub(super) fn few_shape(rows: Rows, io: &Io<'_>, how: How) -> Option<Few> {
    let shape = &io.tables.shape;
    let capacity = rows.capacity(shape);
    let allowed = match shape.kind {
        StepKind::Mixed => capacity <= how.tune.matmul_few_rows as usize,
        StepKind::Prompt => matches!(rows, Rows::Outputs { .. }),
        StepKind::Decode => true,
    };
    let [.., largest] = FEW;
    allowed.then(|| FEW.into_iter().find(|few| capacity <= few.rows).unwrap_or(largest))
}

pub(super) fn lower(op: &Matmul, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let members = [Member::new(op.weight, op.bias)];
    products(&members, &[Slot::Output(0)], &Around::default(), io, how)
}

/// What a launch does besides the products.
#[derive(Clone, Debug, Default)]
pub(super) struct Around<'a> {
    /// Norm of the activations, which kernels of few rows take in.
    pub(super) norm: Option<&'a RmsNorm>,
    /// Added to the first product.
    pub(super) residual: Option<Slot>,
}

impl Around<'_> {
    fn residual(&self) -> Slot {
        self.residual.clone().unwrap_or(Slot::Unused)
    }
}

/// Why a norm is not taken in.
const NORM_OF_MANY: &str =
    "more than 8 rows are normed once, before their tiles are read many times";

/// The norm's weight as it is bound, whether it is there, and what is added to the mean square.
pub(super) fn taken_in(
    norm: Option<&RmsNorm>,
    io: &Io<'_>,
) -> Result<(Slot, u32, f32), Unsupported> {
    let Some(norm) = norm else { return Ok((Slot::Unused, 0, 0.0)) };
    check_vector(io, norm.weight)?;
    Ok((Slot::Weight(norm.weight), 1, norm.eps))
}

/// The products of members, each into its output.
pub(super) fn products(
    members: &[Member],
    outputs: &[Slot],
    around: &Around<'_>,
    io: &Io<'_>,
    how: How,
) -> Result<Vec<Dispatch>, Unsupported> {
    let mut dispatches = Vec::new();
    let mut alike: Vec<(Few, Vec<Product<'_>>)> = Vec::new();
    for (member, output) in members.iter().zip(outputs) {
        let x = io.inputs[member.operand];
        check_matrix(io, member.weight, x)?;
        member.bias.map_or(Ok(()), |bias| check_vector(io, bias))?;
        let product = Product { member, output };
        let Some(few) = few_shape(x.rows, io, how) else {
            if around.norm.is_some() {
                return Err(Unsupported::because(NORM_OF_MANY));
            }
            dispatches.push(many(&product, around, io, how)?);
            continue;
        };
        let fits = |list: &Vec<Product<'_>>| {
            let quant = |product: &Product<'_>| io.tables.weight(product.member.weight).quant;
            let pair = [quant(&list[0]), quant(&product)];
            let mixed = few == FEW[0] && list.len() == 2 && MIXED.contains(&pair);
            list.len() < FEW_MATRICES
                && list[0].member.operand == member.operand
                && (pair[0] == pair[1] || mixed)
        };
        match alike.iter_mut().find(|(_, list)| fits(list)) {
            Some((_, list)) => list.push(product),
            None => alike.push((few, vec![product])),
        }
    }
    for (shape, products) in &alike {
        dispatches.push(few(*shape, products, around, io, how)?);
    }
    Ok(dispatches)
}

/// A matrix, and where its product goes.
struct Product<'a> {
    member: &'a Member,
    output: &'a Slot,
}

impl Product<'_> {
    fn bias(&self) -> Slot {
        self.member.bias.map_or(Slot::Unused, Slot::Weight)
    }
}

/// Up to three products with the same activations, of matrices of one format.
fn few(
    shape: Few,
    products: &[Product<'_>],
    around: &Around<'_>,
    io: &Io<'_>,
    how: How,
) -> Result<Dispatch, Unsupported> {
    let first = products[0].member;
    let weight = io.tables.weight(first.weight);
    let rows = shape.weight_rows * how.tune.matmul_simdgroups as usize;
    let outputs = |index: usize| {
        let product: Option<&Product<'_>> = products.get(index);
        product.map_or(0, |product| io.tables.weight(product.member.weight).rows)
    };
    let has_bias =
        |index: usize| products.get(index).is_some_and(|product| product.member.bias.is_some());
    let (norm, has_norm, eps) = taken_in(around.norm, io)?;
    let arguments = FewArguments {
        cols: weight.cols as u32,
        row_bytes: row_bytes(io, first.weight)?,
        row_bytes2: row_bytes(io, products.get(2).map_or(first, |third| third.member).weight)?,
        outputs0: outputs(0) as u32,
        outputs1: outputs(1) as u32,
        outputs2: outputs(2) as u32,
        has_bias0: u32::from(has_bias(0)),
        has_bias1: u32::from(has_bias(1)),
        has_bias2: u32::from(has_bias(2)),
        has_norm,
        eps,
        has_residual: u32::from(around.residual.is_some()),
    };
    let three = |slot: &dyn Fn(&Product<'_>) -> Slot| -> Vec<Slot> {
        let slots = products.iter().map(slot);
        slots.chain(std::iter::repeat(Slot::Unused)).take(FEW_MATRICES).collect()
    };
    let mut buffers = vec![Slot::Input(first.operand)];
    buffers.extend(three(&|product| Slot::Weight(product.member.weight)));
    buffers.extend(three(&|product| product.bias()));
    buffers.extend(three(&|product| product.output.clone()));
    buffers.extend([norm, around.residual()]);
    let groups: usize = (0..FEW_MATRICES).map(|index| outputs(index).div_ceil(rows)).sum();
    let third = products.get(2).map(|third| io.tables.weight(third.member.weight).quant);
    let mixed = third.filter(|third| *third != weight.quant);
    Ok(Dispatch {
        kernel: mixed.map_or_else(
            || few_name("matmul_few", weight.quant, shape),
            |third| mixed_name([weight.quant, third]),
        ),
        why: "few rows: each weight is read once, straight into registers",
        buffers,
        arguments: arguments.bytes(),
        grid: Grid {
            x: groups as u32,
            rows: io.inputs[first.operand].rows,
            per_group: shape.rows as u32,
            spare: 0,
            z: 1,
        },
        threads: 32 * how.tune.matmul_simdgroups,
        threadgroup_memory: 0,
    })
}

/// One product of many rows.
fn many(
    product: &Product<'_>,
    around: &Around<'_>,
    io: &Io<'_>,
    how: How,
) -> Result<Dispatch, Unsupported> {
    let member = product.member;
    let weight = io.tables.weight(member.weight);
    let arguments = MatmulArguments {
        cols: weight.cols as u32,
        outputs: weight.rows as u32,
        row_bytes: row_bytes(io, member.weight)?,
        has_bias: u32::from(member.bias.is_some()),
        has_residual: u32::from(around.residual.is_some()),
    };
    let half = how.staging == Staging::Half && may_round(weight.quant);
    let [x_rows, w_rows, _step] = TILE;
    let buffers = vec![
        Slot::Input(member.operand),
        Slot::Weight(member.weight),
        product.bias(),
        product.output.clone(),
        around.residual(),
    ];
    Ok(Dispatch {
        kernel: many_name("matmul_many", weight.quant, half),
        why: "many rows: tiles of 32 by 64 on simdgroup matrices",
        buffers,
        arguments: arguments.bytes(),
        grid: Grid {
            x: weight.rows.div_ceil(w_rows) as u32,
            rows: io.inputs[member.operand].rows,
            per_group: x_rows as u32,
            spare: 0,
            z: 1,
        },
        threads: 128,
        threadgroup_memory: tile_memory(half),
    })
}
