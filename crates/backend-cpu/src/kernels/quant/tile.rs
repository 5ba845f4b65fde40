//! Activation rows side by side, as products of many tokens read them: blocks of 16 tokens follow
//! each other in memory, so that a block's operands lie at fixed distances.

use bytemuck::{Pod, Zeroable};

use super::rows::{Q8_0Row, Q8KRow};

/// Tokens of a panel; the last one's places that have no token hold zeros.
pub(crate) const TOKENS: usize = 16;

/// A block of 32 values of each token.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Panel32 {
    /// Values in words of four.
    pub(crate) quads: [[i32; 8]; TOKENS],
    pub(crate) scales: [f32; TOKENS],
    /// Sums of the values.
    pub(crate) sums: [i32; TOKENS],
}

/// A block of 256 values of each token.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Panel256 {
    /// Values in words of four, by groups of 32.
    pub(crate) quads: [[[i32; 8]; TOKENS]; 8],
    pub(crate) scales: [f32; TOKENS],
    /// Sums of each 16 values, those of a group as a pair of 16 bits.
    pub(crate) sums: [[i32; TOKENS]; 8],
}

/// Rows of activations, and the same as panels where there is more than one: a panel for each 16
/// rows and block, blocks first.
#[derive(Clone, Copy)]
pub(crate) struct Tile<'a, X, P> {
    pub(crate) rows: &'a [X],
    pub(crate) panels: &'a [P],
}

pub(crate) type Q8_0Tile<'a> = Tile<'a, Q8_0Row<'a>, Panel32>;
pub(crate) type Q8KTile<'a> = Tile<'a, Q8KRow<'a>, Panel256>;

impl<'a, X, P: Pod> Tile<'a, X, P> {
    /// The rows of `blocks` blocks, packed by `fill(block, panel, token, row)` into room for all
    /// their panels.
    fn packed(
        rows: &'a [X],
        blocks: usize,
        room: &'a mut [f32],
        fill: impl Fn(usize, &mut P, usize, &X),
    ) -> Self {
        if rows.len() < 2 {
            return Tile { rows, panels: &[] };
        }
        let bytes = size_of::<P>() * blocks * rows.len().div_ceil(TOKENS);
        let panels: &mut [P] = bytemuck::cast_slice_mut(&mut room[..bytes / size_of::<f32>()]);
        for (panels, rows) in panels.chunks_exact_mut(blocks).zip(rows.chunks(TOKENS)) {
            for (b, panel) in panels.iter_mut().enumerate() {
                if rows.len() < TOKENS {
                    *panel = P::zeroed();
                }
                for (t, row) in rows.iter().enumerate() {
                    fill(b, panel, t, row);
                }
            }
        }
        Tile { rows, panels }
    }

    /// Whether the panels are those of the rows, and `sums` has a place for each of their tokens.
    pub(crate) fn is_whole(&self, blocks: usize, sums: usize) -> bool {
        let tokens = self.rows.len();
        let panels = if tokens < 2 { 0 } else { blocks * tokens.div_ceil(TOKENS) };
        self.panels.len() == panels && sums == places(tokens)
    }
}

impl<'a> Q8_0Tile<'a> {
    /// The rows, packed into `room`: [`bytes`] of it.
    pub(crate) fn new(rows: &'a [Q8_0Row<'a>], room: &'a mut [f32]) -> Self {
        let blocks = rows.first().map_or(0, |row| row.q.len());
        Tile::packed(rows, blocks, room, |b, panel: &mut Panel32, t, row: &Q8_0Row<'_>| {
            panel.quads[t] = row.quads[b];
            panel.scales[t] = row.scales[b];
            panel.sums[t] = row.sums[b];
        })
    }
}

impl<'a> Q8KTile<'a> {
    /// The rows, packed into `room`: [`bytes`] of it.
    pub(crate) fn new(rows: &'a [Q8KRow<'a>], room: &'a mut [f32]) -> Self {
        let blocks = rows.first().map_or(0, |row| row.q.len());
        Tile::packed(rows, blocks, room, |b, panel: &mut Panel256, t, row: &Q8KRow<'_>| {
            let pairs = row.sums[b].as_chunks::<2>().0;
            for g in 0..8 {
                panel.quads[g][t] = row.quads[b][g];
                panel.sums[g][t] = bytemuck::must_cast(pairs[g]);
            }
            panel.scales[t] = row.scales[b];
        })
    }
}

/// Sums that the products of so many rows need: those of whole panels, where there are panels.
pub(crate) fn places(rows: usize) -> usize {
    if rows < 2 { rows } else { rows.next_multiple_of(TOKENS) }
}

/// Bytes of the panels of so many rows of `cols` columns, of the wider kind.
pub(crate) fn bytes(rows: usize, cols: usize) -> usize {
    cols.div_ceil(32) * rows.div_ceil(TOKENS) * size_of::<Panel32>()
}
