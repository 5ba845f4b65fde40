//! `attention`: scaled dot-product attention over the paged cache.
//!
//! A task is one work item and one K/V head. It goes through the item's positions in tiles of 32,
//! each for up to 16 rows and all query heads of the K/V head; every pair of these is a query. For
//! few queries K and V are widened in registers, for many once in memory. Each query keeps its
//! maximum, sum and accumulator for the current partition, and the same of all before it.

use std::ops::Range;

use minfer_graph::op::attention::Attention;
use minfer_graph::{PAGE_POSITIONS, PARTITION_POSITIONS, StateDecl, Work};
use minfer_plan::{Io, Launch, ROW_TILE, Unsupported};

use crate::call::{Call, Lists};
use crate::simd::{self, Scores, Scoring, Simd, TILE, Tile};
use crate::state::{Pages, Pool, no_pool};
use crate::sys::{Cuts, Fault, Grid, Rectangle, Workers};

/// Columns are padded to whole vectors.
const PADDING: usize = 16;

/// Queries that read K and V as they lie: for more it pays to widen them once in memory.
const FEW: usize = 12;

pub(super) fn lower(op: &Attention, io: &Io<'_>, threads: usize) -> Result<Launch, Unsupported> {
    let StateDecl::Paged { kv_heads, head_dim, key, value, .. } = io.tables.state(op.state) else {
        return Err(Unsupported::because("a state without pages"));
    };
    let kernel = format!("attention.{}.{}", key.name(), value.name());
    let room = room(op.heads / kv_heads, *head_dim);
    let partials = io.tables.shape.partials * op.heads * (head_dim + 2);
    let scratch = (threads * room + partials) * size_of::<f32>();
    Ok(Launch::simple(kernel, "tiles of a page, widened once per K/V head").with_scratch(scratch))
}

/// f32 that one worker needs: tiles of K and V, and what [`Room`] has for each query.
fn room(group: usize, head_dim: usize) -> usize {
    let stride = head_dim.next_multiple_of(PADDING);
    // Whole cache lines for each worker: vectors that lie across two take twice the time.
    (2 * TILE * stride + ROW_TILE * group * (2 * stride + TILE + 5)).next_multiple_of(PADDING)
}

/// What all tasks of a launch share.
struct Launched<'a> {
    simd: Simd,
    op: &'a Attention,
    pool: &'a Pool,
    q: &'a [f32],
    positions: &'a [i32],
    tables: &'a [i32],
    /// Entries of one page table.
    pages: usize,
    sinks: Option<&'a [f32]>,
    /// Query heads of one K/V head.
    group: usize,
    stride: usize,
}

pub(super) fn run(op: &Attention, call: &mut Call<'_>) -> Result<(), Fault> {
    let pool = call.states.get(op.state).ok_or_else(no_pool)?;
    let group = op.heads / pool.kv_heads;
    let launched = Launched {
        simd: call.simd,
        op,
        pool,
        q: call.floats(0)?,
        positions: call.integers(1)?,
        tables: call.integers(2)?,
        pages: call.graph.tables.shape.pages,
        sinks: op.sinks.map(|sinks| call.weights.vector(sinks)),
        group,
        stride: pool.head_dim.next_multiple_of(PADDING),
    };
    let work = &call.step.group(pool.group)?.work;
    let cols = op.heads * pool.head_dim;
    let record = pool.head_dim + 2;
    let out: &mut [f32] = bytemuck::cast_slice_mut(std::mem::take(&mut call.views.writes[0]));
    let scratch: &mut [f32] = bytemuck::cast_slice_mut(std::mem::take(&mut call.views.writes[1]));
    let partials = call.graph.tables.shape.partials * op.heads * record;
    let room = call.workers.pool.workers() * room(group, pool.head_dim);
    let (room, rest) = scratch.split_at_mut(room);
    let partials = &mut rest[..partials];

    // Items that make final rows, and those that leave partial results.
    for whole in [true, false] {
        call.lists.items.clear();
        call.lists.items.extend(work.iter().filter(|item| (item.slot < 0) == whole));
        let first = |item: &Work| if whole { item.row as usize } else { item.slot as usize };
        call.lists.items.sort_unstable_by_key(first);
        call.lists.ranges.clear();
        let ranges = call.lists.items.iter().map(|i| first(i)..first(i) + i.rows as usize);
        call.lists.ranges.extend(ranges);
        let (items, cuts) = (&call.lists.items, Cuts::Listed(&call.lists.ranges));
        let grid = if whole {
            Grid::new(&mut *out, cols, cuts, group * pool.head_dim)?
        } else {
            Grid::new(&mut *partials, op.heads * record, cuts, group * record)?
        };
        call.workers.fill(&[grid], room, &|_, mut rectangle, room| {
            let kv_head = rectangle.columns.start / rectangle.columns.len().max(1);
            launched.item(&items[rectangle.cut], kv_head, &mut rectangle, room);
        })?;
    }
    combine(&launched, call.lists, call.workers, out, partials)
}

/// Puts the partial results of each row together, in the order of the partitions.
fn combine(
    launched: &Launched<'_>,
    lists: &mut Lists,
    workers: Workers<'_>,
    out: &mut [f32],
    partials: &[f32],
) -> Result<(), Fault> {
    let (heads, head_dim) = (launched.op.heads, launched.pool.head_dim);
    let (cols, record) = (heads * head_dim, head_dim + 2);
    // Left from the last pass: the items with slots. Rows with several partitions have several
    // items.
    lists.items.sort_unstable_by_key(|item| (item.row, item.kv_start));
    lists.ranges.clear();
    for item in &lists.items {
        let rows = item.row as usize..item.row as usize + item.rows as usize;
        if lists.ranges.last() != Some(&rows) {
            lists.ranges.push(rows);
        }
    }
    let (items, cuts) = (&lists.items, Cuts::Listed(&lists.ranges));
    let grid = Grid::new(out, cols, cuts, cols.max(1))?;
    workers.each(grid, &|mut rectangle| {
        for row in rectangle.rows.clone() {
            let to = rectangle.row(row);
            to.fill(0.0);
            for (head, to) in to.chunks_mut(head_dim).enumerate() {
                let mut total = Running::default();
                let of_row = |item: &&Work| {
                    (item.row as usize..(item.row + item.rows) as usize).contains(&row)
                };
                for item in items.iter().filter(of_row) {
                    let slot = item.slot as usize + row - item.row as usize;
                    let record = &partials[(slot * heads + head) * record..][..record];
                    let part = Running { m: record[0], l: record[1] };
                    total.absorb(launched.simd, to, part, &record[2..]);
                }
                launched.finish(head, total, to);
            }
        }
    })
}

/// Maximum and sum of the weights so far.
#[derive(Clone, Copy)]
struct Running {
    m: f32,
    /// Zero as long as no position was seen.
    l: f32,
}

impl Default for Running {
    fn default() -> Running {
        Running { m: f32::NEG_INFINITY, l: 0.0 }
    }
}

impl Running {
    /// Adds the next partition, unless it saw no position.
    fn absorb(&mut self, simd: Simd, total: &mut [f32], part: Running, acc: &[f32]) {
        if part.l == 0.0 {
            return;
        }
        let m = self.m.max(part.m);
        let (a, b) = (simd::exp(simd, self.m - m), simd::exp(simd, part.m - m));
        self.l = self.l.mul_add(a, part.l * b);
        simd::blend(simd, total, acc, a, b);
        self.m = m;
    }
}

/// A worker's room.
struct Room<'a> {
    k: &'a mut [f32],
    v: &'a mut [f32],
    q: &'a mut [f32],
    acc: &'a mut [f32],
    /// Scores, then weights, of the current tile, and the factors on what came before it.
    scores: &'a mut [Scores],
    factors: &'a mut [f32],
    /// Of the current partition: maximum, then sum.
    running: &'a mut [[f32; 2]],
    /// Of all before it.
    totals: &'a mut [[f32; 2]],
}

impl<'a> Room<'a> {
    fn new(room: &'a mut [f32], queries: usize, stride: usize) -> Room<'a> {
        let (k, room) = room.split_at_mut(TILE * stride);
        let (v, room) = room.split_at_mut(TILE * stride);
        let (q, room) = room.split_at_mut(queries * stride);
        let (acc, room) = room.split_at_mut(queries * stride);
        let (scores, room) = room.split_at_mut(queries * TILE);
        let (factors, room) = room.split_at_mut(queries);
        let (running, totals) = room.as_chunks_mut().0.split_at_mut(queries);
        let scores = scores.as_chunks_mut().0;
        Room { k, v, q, acc, scores, factors, running, totals: &mut totals[..queries] }
    }
}

impl Launched<'_> {
    /// One item for one K/V head, 16 rows at a time.
    fn item(&self, item: &Work, kv_head: usize, out: &mut Rectangle<'_, f32>, room: &mut [f32]) {
        let rows = item.row as usize..item.row as usize + item.rows as usize;
        for first in rows.clone().step_by(ROW_TILE) {
            let tile = first..rows.end.min(first + ROW_TILE);
            let mut room = Room::new(room, tile.len() * self.group, self.stride);
            self.rows(item, kv_head, tile, out, &mut room);
        }
    }

    fn rows(
        &self,
        item: &Work,
        kv_head: usize,
        rows: Range<usize>,
        out: &mut Rectangle<'_, f32>,
        room: &mut Room<'_>,
    ) {
        let (group, head_dim) = (self.group, self.pool.head_dim);
        let heads = kv_head * group..(kv_head + 1) * group;
        // What lies beyond a head's columns stays zero.
        if self.stride > head_dim {
            room.k.fill(0.0);
            room.v.fill(0.0);
            room.q.fill(0.0);
        }
        for (i, q) in room.q.chunks_mut(self.stride).enumerate() {
            let (row, head) = (rows.start + i / group, heads.start + i % group);
            let from = (row * self.op.heads + head) * head_dim;
            q[..head_dim].copy_from_slice(&self.q[from..][..head_dim]);
        }
        room.totals.fill([f32::NEG_INFINITY, 0.0]);
        let whole = item.slot < 0;
        let target = |row: usize| match usize::try_from(item.slot) {
            Ok(slot) => slot + row - item.row as usize,
            Err(_) => row,
        };
        for row in rows.clone() {
            out.row(target(row)).fill(0.0);
        }
        let end = item.kv_end as usize;
        for start in (item.kv_start as usize..end).step_by(PARTITION_POSITIONS) {
            let partition = start..end.min(start + PARTITION_POSITIONS);
            self.partition(item, kv_head, rows.clone(), partition, room);
            for i in 0..rows.len() * group {
                let (row, head) = (rows.start + i / group, i % group);
                let [m, l] = room.running[i];
                let part = Running { m, l };
                let acc = &room.acc[i * self.stride..][..head_dim];
                let to = out.row(target(row));
                if whole {
                    let [m, l] = room.totals[i];
                    let mut total = Running { m, l };
                    total.absorb(self.simd, &mut to[head * head_dim..][..head_dim], part, acc);
                    room.totals[i] = [total.m, total.l];
                } else {
                    let record = &mut to[head * (head_dim + 2)..][..head_dim + 2];
                    (record[0], record[1]) = (part.m, part.l);
                    record[2..].copy_from_slice(acc);
                }
            }
        }
        if whole {
            for i in 0..rows.len() * group {
                let to = out.row(rows.start + i / group);
                let to = &mut to[i % group * head_dim..][..head_dim];
                let [m, l] = room.totals[i];
                self.finish(heads.start + i % group, Running { m, l }, to);
            }
        }
    }

    /// Positions of `range` that the row sees.
    fn visible(&self, row: usize, range: &Range<usize>) -> Range<usize> {
        let position = self.positions[row] as usize;
        let first = self.pool.window.map_or(0, |window| (position + 1).saturating_sub(window));
        let start = range.start.max(first);
        start..range.end.min(position + 1).max(start)
    }

    /// Leaves maximum, sum and accumulator of one partition in the room, for each query.
    fn partition(
        &self,
        item: &Work,
        kv_head: usize,
        rows: Range<usize>,
        partition: Range<usize>,
        room: &mut Room<'_>,
    ) {
        room.running.fill([f32::NEG_INFINITY, 0.0]);
        room.acc.fill(0.0);
        let table = &self.tables[item.sequence as usize * self.pages..][..self.pages];
        for start in partition.clone().step_by(TILE) {
            let tile = start..partition.end.min(start + TILE);
            let page = table[start / PAGE_POSITIONS] as usize;
            if tile.end < partition.end {
                // Pages lie in no order that the processor could foresee.
                let next = table[tile.end / PAGE_POSITIONS] as usize;
                self.pool.key.fetch(next, kv_head);
                self.pool.value.fetch(next, kv_head);
            }
            self.tile(page, kv_head, rows.clone(), tile, room);
        }
    }

    /// One tile for all queries.
    fn tile(
        &self,
        page: usize,
        kv_head: usize,
        rows: Range<usize>,
        tile: Range<usize>,
        room: &mut Room<'_>,
    ) {
        let seen = rows.clone().map(|row| self.visible(row, &tile)).filter(|r| !r.is_empty());
        let seen = seen.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
        let Some(seen) = seen else { return };
        let places = seen.start - tile.start..seen.end - tile.start;
        let few = rows.len() * self.group <= FEW;
        let (simd, stride, group) = (self.simd, self.stride, self.group);
        let (key, value) = (&self.pool.key, &self.pool.value);
        let k = self.positions_of(key, page, kv_head, places.clone(), few, room.k);
        let v = self.positions_of(value, page, kv_head, places.clone(), few, room.v);
        let scoring = Scoring { scale: self.op.scale, cap: self.op.soft_cap };
        simd::scores(simd, room.q, k, places, scoring, room.scores);
        // Rows that see the same positions go together: in all tiles but a few the whole item.
        let mut first = rows.start;
        while first < rows.end {
            let live = self.visible(first, &tile);
            let alike = (first..rows.end).take_while(|row| self.visible(*row, &tile) == live);
            let next = first + alike.count();
            let queries = (first - rows.start) * group..(next - rows.start) * group;
            first = next;
            if live.is_empty() {
                continue;
            }
            let live = live.start - tile.start..live.end - tile.start;
            let (scores, running) = (&mut room.scores[queries.clone()], &mut room.running);
            let factors = &mut room.factors[queries.clone()];
            simd::weights(simd, scores, live.clone(), &mut running[queries.clone()], factors);
            let acc = &mut room.acc[queries.start * stride..queries.end * stride];
            simd::accumulate(simd, acc, scores, factors, v, live);
        }
    }

    /// K or V of a tile, of which `places` are read: as they lie, or widened into `to`.
    fn positions_of<'t>(
        &'t self,
        from: &'t Pages,
        page: usize,
        kv_head: usize,
        places: Range<usize>,
        few: bool,
        to: &'t mut [f32],
    ) -> Tile<'t> {
        match from.tile(page, kv_head).filter(|_| self.stride == self.pool.head_dim) {
            Some(tile @ Tile::F32(_)) => tile,
            Some(tile) if few => tile,
            Some(_) | None => {
                let to_places = &mut to[places.start * self.stride..];
                from.load(self.simd, page, kv_head, places, self.stride, to_places);
                Tile::F32(to)
            }
        }
    }

    /// The sink's part, and the division by the sum.
    fn finish(&self, head: usize, mut total: Running, to: &mut [f32]) {
        if let Some(sinks) = self.sinks {
            let m = total.m.max(sinks[head]);
            let a = simd::exp(self.simd, total.m - m);
            let sink = simd::exp(self.simd, sinks[head] - m);
            total.l = total.l.mul_add(a, sink);
            simd::scale(self.simd, to, a);
        }
        simd::scale(self.simd, to, 1.0 / total.l);
    }
}
