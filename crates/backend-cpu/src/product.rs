//! Products of activation rows and weight rows: the loops that every matmul shares.
//!
//! A task owns some columns of the output, that is some weight rows, for all activation rows.
//! Quantized: the weight rows of a tile are unpacked once for up to 128 activation rows. Float: the
//! weight rows of a tile are decoded once for as many activation rows as a cache holds; floats are
//! read as they lie for a few.

use minfer_graph::TensorType;
use minfer_quant::{DType, Planes, Quant};

use crate::kernels::quant::{self, Q8_0Row, Q8_0Tile, Q8KRow, Q8KTile, Q16_0Row};
use crate::simd::{self, Floats, ROWS, RUN, Rows, Simd, Sums};
use crate::sys::Rectangle;
use crate::weights::Matrix;

/// Most activation rows that share one unpacking of weights, and the bytes that they may take: they
/// stay in the second cache while the weight rows of a task pass by.
const TOKENS: usize = 128;
const TOKEN_BYTES: usize = 512 << 10;

/// Activation rows that float products take at a time: whole tiles of any instruction set.
const FLOAT_TOKENS: usize = 24;

/// Activation rows from which on it pays to decode float weights too: for fewer they are read as
/// they lie, those of 16 bits widened in registers.
const WIDENED: usize = 13;

/// Bytes of float activation rows that share one decoding: they stay in the second cache while all
/// weight rows of a task pass by.
const FLOAT_TILE: usize = 256 << 10;

/// Fewest rows of a stream that are worth it.
const STREAM: usize = 12;

/// Activation rows in one of the types that products take.
#[derive(Clone, Copy)]
pub(crate) enum Activations<'a> {
    F32 { data: &'a [f32], cols: usize },
    Q8_0 { data: &'a [u8], planes: Planes },
    Q8K { data: &'a [u8], planes: Planes },
    Q16_0 { data: &'a [u8], planes: Planes },
}

impl<'a> Activations<'a> {
    /// Rows of type `ty` in `data`.
    pub(crate) fn new(ty: TensorType, data: &'a [u8]) -> Activations<'a> {
        let planes = ty.dtype.planes(ty.cols).expect("verified: whole blocks");
        match ty.dtype {
            DType::Q8_0 => Activations::Q8_0 { data, planes },
            DType::Q8_K => Activations::Q8K { data, planes },
            DType::Q16_0 => Activations::Q16_0 { data, planes },
            DType::F32 | DType::F16 | DType::BF16 | DType::I32 => {
                Activations::F32 { data: bytemuck::cast_slice(data), cols: ty.cols }
            }
        }
    }
}

/// A type of quantized rows: how one is read, how many stand side by side, and their products.
trait Operand<'x>: Copy + Default {
    /// Rows side by side.
    type Tile<'t>
    where
        Self: 't;

    fn row(planes: &Planes, row: &'x [u8]) -> Self;
    fn tile<'t>(rows: &'t [Self], room: &'t mut [f32]) -> Self::Tile<'t>
    where
        'x: 't;
    /// Sums that the products of so many rows need.
    fn places(rows: usize) -> usize;
    fn dots(simd: Simd, quant: Quant, rows: &Rows<'_>, xs: &Self::Tile<'_>, acc: &mut [Sums]);
}

impl<'x> Operand<'x> for Q8_0Row<'x> {
    type Tile<'t>
        = Q8_0Tile<'t>
    where
        Self: 't;

    fn row(planes: &Planes, row: &'x [u8]) -> Self {
        Q8_0Row::new(planes, row)
    }

    fn tile<'t>(rows: &'t [Self], room: &'t mut [f32]) -> Q8_0Tile<'t>
    where
        'x: 't,
    {
        Q8_0Tile::new(rows, room)
    }

    fn places(rows: usize) -> usize {
        quant::places(rows)
    }

    fn dots(simd: Simd, quant: Quant, rows: &Rows<'_>, xs: &Q8_0Tile<'_>, acc: &mut [Sums]) {
        quant::dots_q8_0(simd, quant, rows, xs, acc);
    }
}

impl<'x> Operand<'x> for Q8KRow<'x> {
    type Tile<'t>
        = Q8KTile<'t>
    where
        Self: 't;

    fn row(planes: &Planes, row: &'x [u8]) -> Self {
        Q8KRow::new(planes, row)
    }

    fn tile<'t>(rows: &'t [Self], room: &'t mut [f32]) -> Q8KTile<'t>
    where
        'x: 't,
    {
        Q8KTile::new(rows, room)
    }

    fn places(rows: usize) -> usize {
        quant::places(rows)
    }

    fn dots(simd: Simd, quant: Quant, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
        quant::dots_q8_k(simd, quant, rows, xs, acc);
    }
}

impl<'x> Operand<'x> for Q16_0Row<'x> {
    type Tile<'t>
        = &'t [Self]
    where
        Self: 't;

    fn row(planes: &Planes, row: &'x [u8]) -> Self {
        Q16_0Row::new(planes, row)
    }

    fn tile<'t>(rows: &'t [Self], _room: &'t mut [f32]) -> &'t [Self]
    where
        'x: 't,
    {
        rows
    }

    fn places(rows: usize) -> usize {
        rows
    }

    fn dots(simd: Simd, _quant: Quant, rows: &Rows<'_>, xs: &&[Self], acc: &mut [Sums]) {
        quant::q8_0::dots_q16_0(simd, rows, xs, acc);
    }
}

/// Which activation row makes which output row.
#[derive(Clone, Copy)]
pub(crate) enum Pairs<'a> {
    /// Row i makes row i, for so many rows.
    Same(usize),
    /// `[activation row, output row]` each.
    Listed(&'a [[u32; 2]]),
}

impl Pairs<'_> {
    fn len(&self) -> usize {
        match self {
            Pairs::Same(rows) => *rows,
            Pairs::Listed(pairs) => pairs.len(),
        }
    }

    fn get(&self, index: usize) -> [usize; 2] {
        match self {
            Pairs::Same(_) => [index, index],
            Pairs::Listed(pairs) => pairs[index].map(|row| row as usize),
        }
    }
}

/// One matrix applied to activations.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a> {
    pub(crate) simd: Simd,
    pub(crate) matrix: Matrix<'a>,
    pub(crate) bias: Option<&'a [f32]>,
    pub(crate) x: Activations<'a>,
    pub(crate) pairs: Pairs<'a>,
}

/// The bytes of a quantized row.
fn record<'a>(data: &'a [u8], planes: &Planes, row: usize) -> &'a [u8] {
    &data[row * planes.bytes()..][..planes.bytes()]
}

/// f32 that one worker needs as room for products with matrices of `cols` columns: decoded weight
/// rows for float activations, panels of activation rows for quantized ones.
pub(crate) fn room(cols: usize, activations: DType) -> usize {
    match activations {
        DType::F32 | DType::F16 | DType::BF16 | DType::I32 => ROWS * stride(cols),
        DType::Q8_0 | DType::Q8_K => quant::panel_bytes(tokens(cols), cols) / size_of::<f32>(),
        DType::Q16_0 => 0,
    }
}

/// Columns of a decoded row: each row starts a quarter of 4096 bytes further on than the one before
/// it, so that the same columns of several rows do not contend for the same places of a cache.
fn stride(cols: usize) -> usize {
    cols.next_multiple_of(1024) + 256
}

/// Activation rows of `cols` columns that share one unpacking.
fn tokens(cols: usize) -> usize {
    let panels = TOKEN_BYTES / quant::panel_bytes(1, cols).max(1);
    (panels * quant::TOKENS).clamp(quant::TOKENS, TOKENS)
}

/// Output columns of a task: enough tasks to share out, each long enough to be worth it.
pub(crate) fn columns(rows: usize, workers: usize) -> usize {
    (rows / (4 * workers)).next_multiple_of(ROWS).clamp(ROWS, 128)
}

/// Which columns of a task its tiles hold: runs of [`RUN`] rows, from as many places of the matrix
/// as a tile has runs, so that memory is read in several streams; or, where the task is short, one
/// after another.
#[derive(Clone, Copy)]
struct Runs {
    tiles: usize,
    /// From a run to the next of the same tile.
    apart: usize,
    /// From a run to that of the next tile.
    step: usize,
}

impl Runs {
    fn new(columns: usize) -> Runs {
        const STREAMS: usize = ROWS / RUN;
        let apart = columns.div_ceil(STREAMS).next_multiple_of(RUN);
        if apart >= STREAM {
            Runs { tiles: apart / RUN, apart, step: RUN }
        } else {
            Runs { tiles: columns.div_ceil(ROWS), apart: RUN, step: ROWS }
        }
    }

    /// The column of row `r` of a tile; it may lie beyond the task's last.
    fn column(&self, tile: usize, r: usize) -> usize {
        tile * self.step + r / RUN * self.apart + r % RUN
    }

    /// Where the columns of a run end, of so many in all.
    fn end(&self, run: usize, columns: usize) -> usize {
        if self.step == RUN { columns.min((run + 1) * self.apart) } else { columns }
    }
}

impl Product<'_> {
    /// Computes a rectangle's columns for all pairs.
    pub(crate) fn fill(&self, out: &mut Rectangle<'_, f32>, room: &mut [f32]) {
        match self.x {
            Activations::F32 { data, cols } => self.floats(data, cols, out, room),
            Activations::Q8_0 { data, planes } => {
                self.integers::<Q8_0Row<'_>>(data, planes, out, room);
            }
            Activations::Q8K { data, planes } => {
                self.integers::<Q8KRow<'_>>(data, planes, out, room);
            }
            Activations::Q16_0 { data, planes } => {
                self.integers::<Q16_0Row<'_>>(data, planes, out, room);
            }
        }
    }

    fn integers<'x, X: Operand<'x>>(
        &self,
        data: &'x [u8],
        planes: Planes,
        out: &mut Rectangle<'_, f32>,
        room: &mut [f32],
    ) {
        let columns = out.columns.clone();
        let step = tokens(self.matrix.cols);
        let mut acc = [Sums::default(); TOKENS];
        for first in (0..self.pairs.len()).step_by(step) {
            let tokens = step.min(self.pairs.len() - first);
            let mut xs = [X::default(); TOKENS];
            for (t, x) in xs[..tokens].iter_mut().enumerate() {
                *x = X::row(&planes, record(data, &planes, self.pairs.get(first + t)[0]));
            }
            let xs = X::tile(&xs[..tokens], room);
            let acc = &mut acc[..X::places(tokens)];
            let runs = Runs::new(columns.len());
            for tile in 0..runs.tiles {
                let row = |r: usize| columns.start + runs.column(tile, r);
                let rows: Rows<'_> = std::array::from_fn(|r| self.matrix.row(row(r)));
                acc.fill(Sums::default());
                X::dots(self.simd, self.matrix.quant, &rows, &xs, acc);
                for (t, sums) in acc[..tokens].iter().enumerate() {
                    let out = out.row(self.pairs.get(first + t)[1]);
                    for (run, sums) in sums.as_chunks::<RUN>().0.iter().enumerate() {
                        let at = runs.column(tile, run * RUN);
                        let live = runs.end(run, columns.len()).saturating_sub(at).min(RUN);
                        if live > 0 {
                            self.put(columns.start + at, &sums[..live], &mut out[at..]);
                        }
                    }
                }
            }
        }
    }

    fn floats(&self, data: &[f32], cols: usize, out: &mut Rectangle<'_, f32>, room: &mut [f32]) {
        let columns = out.columns.clone();
        let tile = (FLOAT_TILE / (4 * cols)).max(1).next_multiple_of(FLOAT_TOKENS);
        let pairs = self.pairs.len();
        for start in (0..pairs).step_by(tile) {
            let end = pairs.min(start + tile);
            for n in columns.clone().step_by(ROWS) {
                let live = ROWS.min(columns.end - n);
                let lie: Rows<'_> = std::array::from_fn(|r| self.matrix.row(n + r));
                let rows = match stored(self.matrix.quant, &lie, end - start) {
                    Some(rows) => rows,
                    None => self.decoded(&lie, cols, room),
                };
                for first in (start..end).step_by(FLOAT_TOKENS) {
                    let tokens = FLOAT_TOKENS.min(end - first);
                    let mut xs: [&[f32]; FLOAT_TOKENS] = [&[]; FLOAT_TOKENS];
                    let mut sums = [Sums::default(); FLOAT_TOKENS];
                    for (t, x) in xs[..tokens].iter_mut().enumerate() {
                        *x = &data[self.pairs.get(first + t)[0] * cols..][..cols];
                    }
                    simd::products(self.simd, &rows, &xs[..tokens], &mut sums[..tokens]);
                    for (t, sums) in sums[..tokens].iter().enumerate() {
                        let to = &mut out.row(self.pairs.get(first + t)[1])[n - columns.start..];
                        self.put(n, &sums[..live], to);
                    }
                }
            }
        }
    }

    /// Weight rows widened into the room.
    fn decoded<'r>(&self, rows: &Rows<'_>, cols: usize, room: &'r mut [f32]) -> Floats<'r> {
        let stride = stride(cols);
        for (row, to) in rows.iter().zip(room.chunks_mut(stride)) {
            quant::decode(self.simd, self.matrix.quant, row, &mut to[..cols]);
        }
        let room = &*room;
        Floats::F32(std::array::from_fn(|r| &room[r * stride..][..cols]))
    }

    /// Writes the outputs from `n` on, with their biases.
    fn put(&self, n: usize, sums: &[f32], to: &mut [f32]) {
        match self.bias {
            Some(bias) => {
                for ((to, sum), bias) in to.iter_mut().zip(sums).zip(&bias[n..]) {
                    *to = sum + bias;
                }
            }
            None => to[..sums.len()].copy_from_slice(sums),
        }
    }
}

/// Weight rows as they lie, if they are floats and the activation rows few.
fn stored<'a>(quant: Quant, rows: &Rows<'a>, tokens: usize) -> Option<Floats<'a>> {
    fn cast<'a, T: bytemuck::Pod>(rows: &Rows<'a>) -> Option<[&'a [T]; ROWS]> {
        let mut floats: [&[T]; ROWS] = [&[]; ROWS];
        for (to, row) in floats.iter_mut().zip(rows) {
            *to = bytemuck::try_cast_slice(row).ok()?;
        }
        Some(floats)
    }
    // What lies in a file is little-endian.
    if cfg!(target_endian = "big") {
        return None;
    }
    match quant {
        Quant::F32 if tokens < WIDENED => cast(rows).map(Floats::F32),
        Quant::F16 if tokens < WIDENED => cast(rows).map(Floats::F16),
        Quant::BF16 if tokens < WIDENED => cast(rows).map(Floats::BF16),
        Quant::F32
        | Quant::F16
        | Quant::BF16
        | Quant::Q4_0
        | Quant::Q4_1
        | Quant::Q5_0
        | Quant::Q5_1
        | Quant::Q8_0
        | Quant::IQ4_NL
        | Quant::MXFP4
        | Quant::Q2_K
        | Quant::Q3_K
        | Quant::Q4_K
        | Quant::Q5_K
        | Quant::Q6_K
        | Quant::Q8_K
        | Quant::IQ1_S
        | Quant::IQ1_M
        | Quant::IQ2_XXS
        | Quant::IQ2_XS
        | Quant::IQ2_S
        | Quant::IQ3_XXS
        | Quant::IQ3_S
        | Quant::IQ4_XS
        | Quant::NVFP4
        | Quant::TQ1_0
        | Quant::TQ2_0 => None,
    }
}
