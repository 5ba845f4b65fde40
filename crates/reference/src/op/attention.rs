//! `attention`: one query row and head at a time, positions in tiles of a page, tiles in partitions
//! of 512 (the sequence is in docs/numerics.md, "Attention"). A partition's result depends on
//! nothing but its positions, so the items of the work list may cut a row's partitions apart as
//! they like.

use std::ops::Range;

use minfer_graph::op::attention::Attention;
use minfer_graph::{PAGE_POSITIONS, PARTITION_POSITIONS, WORK_FIELDS, Work};

use super::Env;
use super::unary::soft_cap;
use crate::cache::Cache;
use crate::canonical::{dot, max, sum};
use crate::real::Real;
use crate::tensor::Tensor;

/// What a partition leaves: maximum, sum, accumulator. Absent where no position is unmasked.
#[derive(Clone, Debug)]
struct Partial<T> {
    m: T,
    l: T,
    acc: Vec<T>,
}

/// Everything but the row and its positions.
struct Attend<'a, T> {
    op: &'a Attention,
    cache: &'a Cache,
    head_dim: usize,
    sinks: Option<Vec<T>>,
}

pub(crate) fn run<T: Real>(op: &Attention, inputs: &[Tensor<T>], env: &Env<'_>) -> Tensor<T> {
    let [q, positions, pages, work] = inputs else {
        unreachable!("verified: q, positions, pages and work");
    };
    let attend = Attend {
        op,
        cache: env.caches.cache(op.state),
        head_dim: q.cols() / op.heads,
        sinks: op.sinks.map(|sinks| env.weights.vector(sinks)),
    };
    let rows: Vec<&[T]> = q.real_rows().collect();
    let tables: Vec<&[i32]> = pages.index_rows().collect();
    let items: Vec<Work> = work.index_rows().map(item).collect();
    let mut y = vec![T::of(0.0); q.reals().len()];
    // Partial results by slot, then by head.
    let mut slots: Vec<Vec<Option<Partial<T>>>> = vec![Vec::new(); env.partials];
    for item in items.iter().filter(|item| item.rows > 0) {
        for (i, row) in (item.row as usize..).take(item.rows as usize).enumerate() {
            let seen = attend.seen(positions.indices()[row], item);
            let partials = |head: usize| {
                attend.partials(head, rows[row], tables[item.sequence as usize], seen.clone())
            };
            if item.slot < 0 {
                let heads = (0..op.heads).flat_map(|head| attend.combine(head, partials(head)));
                write_row(&mut y, row, heads.collect());
            } else {
                let one = |head| partials(head).into_iter().next().flatten();
                slots[item.slot as usize + i] = (0..op.heads).map(one).collect();
            }
        }
    }
    for (row, chain) in chains(&items) {
        let partials = |head: usize| chain.iter().map(|&slot| slots[slot][head].clone()).collect();
        let heads = (0..op.heads).flat_map(|head| attend.combine(head, partials(head)));
        write_row(&mut y, row, heads.collect());
    }
    Tensor::real(q.cols(), y)
}

fn item(row: &[i32]) -> Work {
    let row: [i32; WORK_FIELDS] = row.try_into().expect("verified: a row is one item");
    Work::from_row(row)
}

fn write_row<T: Real>(y: &mut [T], row: usize, values: Vec<T>) {
    y[row * values.len()..][..values.len()].copy_from_slice(&values);
}

/// For each row whose partitions are shared out: the slots of its partials in partition order. They
/// start at the first item's slot and lie `rows` apart.
fn chains(items: &[Work]) -> Vec<(usize, Vec<usize>)> {
    let mut chains = Vec::new();
    let shared: Vec<&Work> = items.iter().filter(|item| item.rows > 0 && item.slot >= 0).collect();
    for (index, first) in shared.iter().enumerate() {
        let same = |other: &&&Work| (other.row, other.rows) == (first.row, first.rows);
        if shared[..index].iter().any(|other| same(&other)) {
            continue;
        }
        let partitions = shared.iter().filter(same).count();
        let slot = shared.iter().filter(same).map(|item| item.slot).min().unwrap_or(first.slot);
        for i in 0..first.rows as usize {
            let start = slot as usize + i;
            let slots = (0..partitions).map(|p| start + p * first.rows as usize);
            chains.push((first.row as usize + i, slots.collect()));
        }
    }
    chains
}

impl<T: Real> Attend<'_, T> {
    /// Unmasked positions of a query at `position`, within the item's range.
    fn seen(&self, position: i32, item: &Work) -> Range<usize> {
        let end = position as usize + 1;
        let start = self.cache.window.map_or(0, |window| end.saturating_sub(window));
        start.max(item.kv_start as usize)..end.min(item.kv_end as usize)
    }

    /// Results of the partitions that `seen` touches, in order.
    fn partials(
        &self,
        head: usize,
        row: &[T],
        pages: &[i32],
        seen: Range<usize>,
    ) -> Vec<Option<Partial<T>>> {
        let q = &row[head * self.head_dim..][..self.head_dim];
        let first = seen.start / PARTITION_POSITIONS * PARTITION_POSITIONS;
        let starts = (first..seen.end).step_by(PARTITION_POSITIONS);
        let partition =
            |start| self.partition(head, q, pages, within(&seen, start, PARTITION_POSITIONS));
        starts.map(partition).collect()
    }

    /// One partition: an online softmax over its tiles.
    fn partition(
        &self,
        head: usize,
        q: &[T],
        pages: &[i32],
        seen: Range<usize>,
    ) -> Option<Partial<T>> {
        if seen.is_empty() {
            return None;
        }
        let zero = T::of(0.0);
        let kv_head = head / (self.op.heads / self.cache.kv_heads);
        let mut state = Partial { m: T::of(f64::NEG_INFINITY), l: zero, acc: vec![zero; q.len()] };
        let first_page = seen.start / PAGE_POSITIONS;
        for tile in first_page..seen.end.div_ceil(PAGE_POSITIONS) {
            let page = pages[tile] as usize;
            let base = tile * PAGE_POSITIONS;
            let unmasked = within(&seen, base, PAGE_POSITIONS);
            let unmasked = unmasked.start - base..unmasked.end - base;
            let widen = |row: Vec<f32>| row.into_iter().map(T::widen).collect::<Vec<T>>();
            let score = |j| self.score(q, &widen(self.cache.keys.load(page, kv_head, j)));
            let scores: Vec<T> = unmasked.clone().map(score).collect();
            let m = state.m.max(max(&scores));
            let c = (state.m - m).exp();
            let mut p = [zero; PAGE_POSITIONS];
            for (j, &score) in unmasked.clone().zip(&scores) {
                p[j] = (score - m).exp();
            }
            state.l = state.l.fma(c, sum(&p));
            for acc in &mut state.acc {
                *acc = *acc * c;
            }
            for j in unmasked {
                let v = widen(self.cache.values.load(page, kv_head, j));
                for (acc, v) in state.acc.iter_mut().zip(v) {
                    *acc = p[j].fma(v, *acc);
                }
            }
            state.m = m;
        }
        Some(state)
    }

    fn score(&self, q: &[T], k: &[T]) -> T {
        let score = dot(q, k) * T::widen(self.op.scale);
        self.op.soft_cap.map_or(score, |cap| soft_cap(T::widen(cap), score))
    }

    /// The result of a head from its partitions in index order.
    fn combine(&self, head: usize, partials: Vec<Option<Partial<T>>>) -> Vec<T> {
        let zero = T::of(0.0);
        let acc = vec![zero; self.head_dim];
        let mut total = Partial { m: T::of(f64::NEG_INFINITY), l: zero, acc };
        for part in partials.into_iter().flatten() {
            let m = total.m.max(part.m);
            let (a, b) = ((total.m - m).exp(), (part.m - m).exp());
            total.l = total.l.fma(a, part.l * b);
            for (acc, part) in total.acc.iter_mut().zip(part.acc) {
                *acc = acc.fma(a, part * b);
            }
            total.m = m;
        }
        if let Some(sinks) = &self.sinks {
            let sink = sinks[head];
            let m = total.m.max(sink);
            let a = (total.m - m).exp();
            total.l = total.l.fma(a, (sink - m).exp());
            for acc in &mut total.acc {
                *acc = *acc * a;
            }
        }
        let inverse = T::of(1.0) / total.l;
        total.acc.into_iter().map(|acc| acc * inverse).collect()
    }
}

/// The part of `range` in `start..start + len`.
fn within(range: &Range<usize>, start: usize, len: usize) -> Range<usize> {
    let from = range.start.max(start);
    from..range.end.min(start + len).max(from)
}

#[cfg(test)]
mod tests;
