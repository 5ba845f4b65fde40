//! `expert_matmul`: each token's activations times the matrices of its experts.
//!
//! The (token, rank) pairs are sorted by expert, so that a task unpacks each expert's weights once
//! for all tokens that chose it.

use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_graph::op::matmul::Member;
use minfer_plan::{Io, Launch, Unsupported};

use super::matmul;
use crate::call::Call;
use crate::product::{Activations, Pairs, Product, columns};
use crate::sys::{Cuts, Fault, Grid};

pub(super) fn lower(op: &ExpertMatmul, io: &Io<'_>, threads: usize) -> Result<Launch, Unsupported> {
    let weight = io.tables.weight(op.weight);
    matmul::check(io, &Member::new(op.weight, None), io.inputs[0])?;
    let kernel = format!("expert_matmul.{}", matmul::pair(weight, io.inputs[0]));
    let pairs = io.outputs[0].rows.capacity(&io.tables.shape);
    let words = lists(weight.experts, pairs);
    let room = matmul::scratch(weight, io.inputs[0], threads);
    Ok(Launch::simple(kernel, "tokens sorted by expert").with_scratch(words * 4 + room))
}

/// u32 of the sorted pairs and of the experts' ends.
fn lists(experts: usize, pairs: usize) -> usize {
    experts + 2 * pairs
}

pub(super) fn run(op: &ExpertMatmul, call: &mut Call<'_>) -> Result<(), Fault> {
    let chosen = call.integers(1)?;
    let used = call.input_type(1).cols;
    let x_rows = call.input_type(0).rows.live(&call.counts);
    let x = Activations::new(call.input_type(0), call.bytes(0)?);
    let experts = call.graph.tables.weight(op.weight).experts;
    let (out, scratch) = (call.take::<f32>(0), call.take_scratch::<u32>());
    let (words, room) = scratch.split_at_mut(lists(experts, chosen.len()));
    let (ends, words) = words.split_at_mut(experts);
    let (pairs, _) = words.as_chunks_mut::<2>();
    // Activations come once per token, or once per pair.
    let per_pair = x_rows == chosen.len();
    sort(chosen, ends, pairs, |pair| if per_pair { pair } else { pair / used })?;
    let rows = call.weights.matrix(op.weight, 0).rows;
    let (simd, weights, workers) = (call.simd, call.weights, call.workers);
    let columns = columns(rows, workers.pool.workers());
    let grid = Grid::new(out, rows, Cuts::Every(chosen.len().max(1)), columns)?;
    let (ends, pairs) = (&*ends, &*pairs);
    workers.fill(&[grid], bytemuck::cast_slice_mut(room), &|_, mut rectangle, room| {
        let mut first = 0;
        for (expert, end) in ends.iter().enumerate() {
            let end = *end as usize;
            if end > first {
                let matrix = weights.matrix(op.weight, expert);
                let pairs = Pairs::Listed(&pairs[first..end]);
                let product = Product { simd, matrix, bias: None, x, pairs };
                product.fill(&mut rectangle, room);
            }
            first = end;
        }
    })
}

/// Sorts pairs by expert: `[activation row, output row]` in `pairs`, where each expert's end in
/// `ends`.
fn sort(
    chosen: &[i32],
    ends: &mut [u32],
    pairs: &mut [[u32; 2]],
    row: impl Fn(usize) -> usize,
) -> Result<(), Fault> {
    ends.fill(0);
    for expert in chosen {
        let count = usize::try_from(*expert).ok().and_then(|expert| ends.get_mut(expert));
        *count.ok_or_else(|| Fault::Failed(format!("there is no expert {expert}")))? += 1;
    }
    // Counts become starts, and starts become ends as the pairs are placed.
    let mut start = 0;
    for end in ends.iter_mut() {
        start += std::mem::replace(end, start);
    }
    for (pair, expert) in chosen.iter().enumerate() {
        let place = &mut ends[*expert as usize];
        pairs[*place as usize] = [row(pair) as u32, pair as u32];
        *place += 1;
    }
    Ok(())
}
