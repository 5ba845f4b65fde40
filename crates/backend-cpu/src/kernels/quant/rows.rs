//! Activation rows as dot products read them, and what the formats' plain forms share.

use minfer_quant::Planes;

use crate::simd::{Rows, Sums};

/// A row in blocks of 32.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Q8_0Row<'a> {
    /// Values from -127 to 127.
    pub(crate) q: &'a [[i8; 32]],
    /// The same in words of four.
    pub(crate) quads: &'a [[i32; 8]],
    /// One a block; NaN where a value was not finite.
    pub(crate) scales: &'a [f32],
    /// Sum of the values of each block.
    pub(crate) sums: &'a [i32],
}

/// A row in blocks of 256.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Q8KRow<'a> {
    /// Values from -127 to 127.
    pub(crate) q: &'a [[i8; 256]],
    /// The same in words of four, by groups of 32.
    pub(crate) quads: &'a [[[i32; 8]; 8]],
    /// One a block; NaN where a value was not finite.
    pub(crate) scales: &'a [f32],
    /// Sums of each 16 values.
    pub(crate) sums: &'a [[i16; 16]],
}

/// A row in blocks of 32, finer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Q16_0Row<'a> {
    /// Values from -32767 to 32767.
    pub(crate) q: &'a [[i16; 32]],
    /// One a block; NaN where a value was not finite.
    pub(crate) scales: &'a [f32],
}

impl<'a> Q16_0Row<'a> {
    /// Reads a row whose planes are laid out so.
    pub(crate) fn new(planes: &Planes, row: &'a [u8]) -> Self {
        let [q, scales, _none] = planes.split(row).expect("the caller passes whole rows");
        Q16_0Row { q: bytemuck::cast_slice(q), scales: bytemuck::cast_slice(scales) }
    }

    /// Whether all planes have `blocks` blocks.
    pub(crate) fn is_whole(&self, blocks: usize) -> bool {
        self.q.len() == blocks && self.scales.len() == blocks
    }
}

impl<'a> Q8_0Row<'a> {
    /// Reads a row whose planes are laid out so.
    pub(crate) fn new(planes: &Planes, row: &'a [u8]) -> Self {
        let [q, scales, sums] = planes.split(row).expect("the caller passes whole rows");
        Q8_0Row {
            q: bytemuck::cast_slice(q),
            quads: bytemuck::cast_slice(q),
            scales: bytemuck::cast_slice(scales),
            sums: bytemuck::cast_slice(sums),
        }
    }

    /// Whether all planes have `blocks` blocks.
    pub(crate) fn is_whole(&self, blocks: usize) -> bool {
        self.q.len() == blocks
            && self.quads.len() == blocks
            && self.scales.len() == blocks
            && self.sums.len() == blocks
    }

    /// The chain of one weight row: `values` gives a block's integers, `factors` its scale and its
    /// minimum.
    pub(super) fn chain<const BYTES: usize>(
        &self,
        row: &[u8],
        values: impl Fn(&[u8; BYTES]) -> [i8; 32],
        factors: impl Fn(&[u8; BYTES]) -> (f32, Option<f32>),
    ) -> f32 {
        let mut acc = 0.0_f32;
        for (b, block) in row.as_chunks::<BYTES>().0.iter().enumerate() {
            let products = values(block).into_iter().zip(self.q[b]);
            let sum: i32 = products.map(|(w, x)| i32::from(w) * i32::from(x)).sum();
            let (d, m) = factors(block);
            acc = (sum as f32).mul_add(d * self.scales[b], acc);
            if let Some(m) = m {
                acc = (self.sums[b] as f32).mul_add(m * self.scales[b], acc);
            }
        }
        acc
    }
}

/// A super-block's numbers, in plain form.
pub(crate) struct SuperBlock {
    /// Integers, offsets removed.
    pub(crate) values: [i8; 256],
    /// Sub-scale of each 16.
    pub(crate) scales: [i16; 16],
    /// Minima of each 16, and the factor on them.
    pub(super) mins: Option<([i16; 16], f32)>,
    pub(crate) d: f32,
}

impl<'a> Q8KRow<'a> {
    /// Reads a row whose planes are laid out so.
    pub(crate) fn new(planes: &Planes, row: &'a [u8]) -> Self {
        let [q, scales, sums] = planes.split(row).expect("the caller passes whole rows");
        Q8KRow {
            q: bytemuck::cast_slice(q),
            quads: bytemuck::cast_slice(q),
            scales: bytemuck::cast_slice(scales),
            sums: bytemuck::cast_slice(sums),
        }
    }

    /// Whether all planes have `blocks` blocks.
    pub(crate) fn is_whole(&self, blocks: usize) -> bool {
        self.q.len() == blocks
            && self.quads.len() == blocks
            && self.scales.len() == blocks
            && self.sums.len() == blocks
    }

    /// The chain of one weight row.
    pub(super) fn chain<const BYTES: usize>(
        &self,
        row: &[u8],
        read: impl Fn(&[u8; BYTES]) -> SuperBlock,
    ) -> f32 {
        let mut acc = 0.0_f32;
        for (b, block) in row.as_chunks::<BYTES>().0.iter().enumerate() {
            let block = read(block);
            let mut sum = 0_i32;
            for g in 0..16 {
                let products = (16 * g..16 * g + 16)
                    .map(|i| i32::from(block.values[i]) * i32::from(self.q[b][i]));
                sum += i32::from(block.scales[g]) * products.sum::<i32>();
            }
            acc = (sum as f32).mul_add(block.d * self.scales[b], acc);
            if let Some((mins, m)) = block.mins {
                let products = mins.iter().zip(&self.sums[b]);
                let sum: i32 = products.map(|(m, x)| i32::from(*m) * i32::from(*x)).sum();
                acc = (sum as f32).mul_add(-(m * self.scales[b]), acc);
            }
        }
        acc
    }
}

/// `dots` by `dot`, row by row: chains start at zero, so this is used on fresh sums only.
pub(super) fn one_by_one<X>(
    rows: &Rows<'_>,
    xs: &[X],
    acc: &mut [Sums],
    dot: impl Fn(&[u8], &X) -> f32,
) {
    for (x, acc) in xs.iter().zip(acc) {
        for (row, acc) in rows.iter().zip(acc) {
            *acc = dot(row, x);
        }
    }
}

/// The f16 at `at`.
pub(super) fn f16<const BYTES: usize>(block: &[u8; BYTES], at: usize) -> f32 {
    minfer_quant::f16_to_f32(u16::from_le_bytes([block[at], block[at + 1]]))
}

/// The little-endian u16 at `at`.
pub(super) fn word<const BYTES: usize>(block: &[u8; BYTES], at: usize) -> u16 {
    u16::from_le_bytes([block[at], block[at + 1]])
}

/// Half byte `index`, low halves first.
pub(super) fn half_byte(bytes: &[u8], index: usize) -> u8 {
    (bytes[index / 2] >> (index % 2 * 4)) & 15
}

/// Levels of a code book, negative where `signs` has a bit, the first value's lowest.
pub(super) fn with_signs<const N: usize>(levels: &[i8; N], signs: u8) -> [i8; N] {
    std::array::from_fn(|i| if signs >> i & 1 == 1 { -levels[i] } else { levels[i] })
}

/// 32 levels of 4 bits: 0…15 in the low halves of 16 bytes, 16…31 in the high ones.
pub(super) fn nibbles(bytes: &[u8]) -> [u8; 32] {
    std::array::from_fn(|i| if i < 16 { bytes[i] & 15 } else { bytes[i - 16] >> 4 })
}

/// 32 levels of 5 bits: the top bits in 4 bytes, then the low 4 bits as [`nibbles`].
pub(super) fn five_bits(bytes: &[u8]) -> [u8; 32] {
    let low = nibbles(&bytes[4..20]);
    std::array::from_fn(|i| low[i] | ((bytes[i / 8] >> (i % 8)) & 1) << 4)
}
