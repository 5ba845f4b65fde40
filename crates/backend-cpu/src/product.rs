//! Products of activation rows and weight rows: the loops that every matmul shares.
//!
//! A task owns some columns of the output, that is some weight rows, for all activation rows.
//! Quantized: the weight rows of a tile are unpacked once for up to 128 activation rows. Float:
//! four weight rows at a time are decoded once for as many activation rows as a cache holds.

use minfer_graph::TensorType;
use minfer_quant::{DType, Planes, Quant};

use crate::kernels::quant::{self, Q8_0Row, Q8_0Tile, Q8KRow, Q8KTile, Q16_0Row};
use crate::simd::{self, ROWS, Rows, Simd, Sums};
use crate::sys::Rectangle;
use crate::weights::Matrix;

/// Most activation rows that share one unpacking of weights, and the bytes that they may take: they
/// stay in the second cache while the weight rows of a task pass by.
const TOKENS: usize = 128;
const TOKEN_BYTES: usize = 512 << 10;

/// Weight rows decoded at a time for float products.
const DECODED: usize = 4;

/// Bytes of float activation rows that share one decoding: they stay in the second cache while all
/// weight rows of a task pass by.
const FLOAT_TILE: usize = 256 << 10;

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

/// Places for whole panels, where there are panels.
fn whole_panels(rows: usize) -> usize {
    if rows < 2 { rows } else { rows.next_multiple_of(quant::TOKENS) }
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
        whole_panels(rows)
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
        whole_panels(rows)
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
        DType::F32 | DType::F16 | DType::BF16 | DType::I32 => DECODED * cols,
        DType::Q8_0 | DType::Q8_K => quant::panel_bytes(tokens(cols), cols) / size_of::<f32>(),
        DType::Q16_0 => 0,
    }
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
            for n in columns.clone().step_by(ROWS) {
                let rows: Rows<'_> = std::array::from_fn(|r| self.matrix.row(n + r));
                acc.fill(Sums::default());
                X::dots(self.simd, self.matrix.quant, &rows, &xs, acc);
                let live = ROWS.min(columns.end - n);
                for (t, sums) in acc[..tokens].iter().enumerate() {
                    let to = &mut out.row(self.pairs.get(first + t)[1])[n - columns.start..];
                    self.put(n, &sums[..live], to);
                }
            }
        }
    }

    fn floats(&self, data: &[f32], cols: usize, out: &mut Rectangle<'_, f32>, room: &mut [f32]) {
        let columns = out.columns.clone();
        let tile = (FLOAT_TILE / (4 * cols)).max(TOKENS);
        let pairs = self.pairs.len();
        for first in (0..pairs).step_by(tile) {
            for n in columns.clone().step_by(DECODED) {
                let live = DECODED.min(columns.end - n);
                for r in 0..DECODED {
                    let row = &mut room[r * cols..][..cols];
                    quant::decode(self.simd, self.matrix.quant, self.matrix.row(n + r), row);
                }
                let rows: [&[f32]; DECODED] = std::array::from_fn(|r| &room[r * cols..][..cols]);
                for pair in first..pairs.min(first + tile) {
                    let [x, y] = self.pairs.get(pair);
                    let sums = simd::dot4(self.simd, rows, &data[x * cols..][..cols]);
                    self.put(n, &sums[..live], &mut out.row(y)[n - columns.start..]);
                }
            }
        }
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
