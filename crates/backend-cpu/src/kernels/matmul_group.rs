//! `matmul_group`: several matrices applied to the same activations in one launch.

use minfer_graph::op::matmul::Member;
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_plan::{Io, Launch, Unsupported};

use super::matmul;
use crate::call::Call;
use crate::product::{Activations, Pairs, Product, columns};
use crate::sys::{Cuts, Fault, Grid, MAX_VIEWS};

/// Members of one launch; the arena lends one part more, for scratch.
const MEMBERS: usize = MAX_VIEWS - 1;

pub(super) fn lower(op: &MatmulGroup, io: &Io<'_>, threads: usize) -> Result<Launch, Unsupported> {
    if op.members.len() > MEMBERS {
        let found = op.members.len();
        return Err(Unsupported::because(format!("{found} matrices, at most {MEMBERS}")));
    }
    let mut scratch = 0;
    let mut pairs: Vec<String> = Vec::new();
    for member in &op.members {
        let (weight, x) = (io.tables.weight(member.weight), io.inputs[member.operand]);
        matmul::check(io, member, x)?;
        scratch = scratch.max(matmul::scratch(weight, x, threads));
        let pair = matmul::pair(weight, x);
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let kernel = format!("matmul_group.{}", pairs.join("+"));
    Ok(Launch::simple(kernel, matmul::why(io.inputs[0])).with_scratch(scratch))
}

pub(super) fn run(op: &MatmulGroup, call: &mut Call<'_>) -> Result<(), Fault> {
    products(&op.members, call)
}

/// One product per member, all shared out together.
pub(super) fn products(members: &[Member], call: &mut Call<'_>) -> Result<(), Fault> {
    let room = call.take_scratch::<f32>();
    let workers = call.workers;
    let mut products = [None; MEMBERS];
    let mut grids: [Grid<'_, f32>; MEMBERS] = [const { Grid::empty() }; MEMBERS];
    for (index, member) in members.iter().enumerate() {
        let matrix = call.weights.matrix(member.weight, 0);
        let ty = call.input_type(member.operand);
        let rows = call.output_rows(index);
        products[index] = Some(Product {
            simd: call.simd,
            matrix,
            bias: member.bias.map(|bias| call.weights.vector(bias)),
            x: Activations::new(ty, call.bytes(member.operand)?),
            pairs: Pairs::Same(rows),
        });
        let columns = columns(matrix.rows, workers.pool.workers());
        let out = call.take(index);
        grids[index] = Grid::new(out, matrix.rows, Cuts::Every(rows.max(1)), columns)?;
    }
    workers.fill(&grids, room, &|index, mut rectangle, room| {
        if let Some(product) = &products[index] {
            product.fill(&mut rectangle, room);
        }
    })
}
