//! Quantized dot products (docs/numerics.md, "Sums"): an unpacked weight row times a quantized
//! activation row.
//!
//! Weights are read by the layouts that minfer-quant documents, one file per family: blocks of 32
//! meet `q8_0` or `q16_0` rows, groups of 16 `q8_0` rows, super-blocks of 256 `q8_k` rows. Sums
//! within a block are exact integers.

mod blocks;
mod books;
mod groups;
mod super_blocks;

use minfer_quant::{DType, Quant, f16_to_f32};

use blocks::Block;
use groups::Group;
use super_blocks::SuperBlock;

use crate::memory::numbers;

/// A weight row as integers and scales.
pub(crate) enum Unpacked {
    Blocks(Vec<Block>),
    Groups(Vec<[Group; 4]>),
    SuperBlocks(Vec<SuperBlock>),
}

impl Unpacked {
    /// Unpacks a stored row; `None` for float weights.
    pub(crate) fn row(quant: Quant, bytes: &[u8]) -> Option<Unpacked> {
        Some(match quant {
            Quant::F32 | Quant::F16 | Quant::BF16 => return None,
            Quant::Q4_0 => Unpacked::Blocks(each(bytes, blocks::q4_0)),
            Quant::Q4_1 => Unpacked::Blocks(each(bytes, blocks::q4_1)),
            Quant::Q5_0 => Unpacked::Blocks(each(bytes, blocks::q5_0)),
            Quant::Q5_1 => Unpacked::Blocks(each(bytes, blocks::q5_1)),
            Quant::Q8_0 => Unpacked::Blocks(each(bytes, blocks::q8_0)),
            Quant::IQ4_NL => Unpacked::Blocks(each(bytes, blocks::iq4_nl)),
            Quant::MXFP4 => Unpacked::Blocks(each(bytes, blocks::mxfp4)),
            Quant::NVFP4 => Unpacked::Groups(each(bytes, groups::nvfp4)),
            Quant::Q2_K => Unpacked::SuperBlocks(each(bytes, super_blocks::q2_k)),
            Quant::Q3_K => Unpacked::SuperBlocks(each(bytes, super_blocks::q3_k)),
            Quant::Q4_K => Unpacked::SuperBlocks(each(bytes, super_blocks::q4_k)),
            Quant::Q5_K => Unpacked::SuperBlocks(each(bytes, super_blocks::q5_k)),
            Quant::Q6_K => Unpacked::SuperBlocks(each(bytes, super_blocks::q6_k)),
            Quant::Q8_K => Unpacked::SuperBlocks(each(bytes, super_blocks::q8_k)),
            Quant::IQ4_XS => Unpacked::SuperBlocks(each(bytes, super_blocks::iq4_xs)),
            Quant::IQ1_S => Unpacked::SuperBlocks(each(bytes, books::iq1_s)),
            Quant::IQ1_M => Unpacked::SuperBlocks(each(bytes, books::iq1_m)),
            Quant::IQ2_XXS => Unpacked::SuperBlocks(each(bytes, books::iq2_xxs)),
            Quant::IQ2_XS => Unpacked::SuperBlocks(each(bytes, books::iq2_xs)),
            Quant::IQ2_S => Unpacked::SuperBlocks(each(bytes, books::iq2_s)),
            Quant::IQ3_XXS => Unpacked::SuperBlocks(each(bytes, books::iq3_xxs)),
            Quant::IQ3_S => Unpacked::SuperBlocks(each(bytes, books::iq3_s)),
            Quant::TQ1_0 => Unpacked::SuperBlocks(each(bytes, super_blocks::tq1_0)),
            Quant::TQ2_0 => Unpacked::SuperBlocks(each(bytes, super_blocks::tq2_0)),
        })
    }

    /// The dot product with an activation row of a type that the format takes.
    pub(crate) fn dot(&self, x: &Activations) -> f32 {
        match self {
            Unpacked::Blocks(weights) => blocks::dot(weights, x),
            Unpacked::Groups(weights) => groups::dot(weights, x),
            Unpacked::SuperBlocks(weights) => super_blocks::dot(weights, x),
        }
    }
}

#[derive(Clone)]
/// A quantized activation row: the planes that minfer-quant's `DType` describes.
pub(crate) struct Activations {
    pub(crate) q: Vec<i16>,
    pub(crate) scales: Vec<f32>,
    pub(crate) sums: Vec<i32>,
}

impl Activations {
    /// Reads one planar row of `cols` elements.
    pub(crate) fn read(dtype: DType, cols: usize, row: &[u8]) -> Activations {
        let planes = dtype.planes(cols).expect("verified: the columns fill whole blocks");
        let [q, scales, sums] = planes.split(row).expect("rows are as long as their type says");
        let q = if dtype == DType::Q16_0 {
            numbers(q, i16::from_ne_bytes)
        } else {
            q.iter().map(|&q| i16::from(q.cast_signed())).collect()
        };
        let sums = if dtype == DType::Q8_0 {
            numbers(sums, i32::from_ne_bytes)
        } else {
            numbers(sums, |bytes| i32::from(i16::from_ne_bytes(bytes)))
        };
        let scales = numbers(scales, f32::from_ne_bytes);
        Activations { q, scales, sums }
    }

    /// The row's elements, exact in f64: `q · scale`.
    pub(crate) fn values(&self) -> Vec<f64> {
        let block = self.q.len() / self.scales.len().max(1);
        let value = |(k, &q): (usize, &i16)| f64::from(q) * f64::from(self.scales[k / block]);
        self.q.iter().enumerate().map(value).collect()
    }
}

/// Exact integer dot product of `N` ≤ 32 terms, at most 2^27 in magnitude.
fn int_dot<const N: usize>(a: &[i8; N], b: &[i16; N]) -> i32 {
    (0..N).fold(0_i32, |sum, k| sum.wrapping_add(i32::from(a[k]) * i32::from(b[k])))
}

/// Unpacks consecutive blocks of `N` bytes.
fn each<B, const N: usize>(bytes: &[u8], unpack: impl Fn(&[u8; N]) -> B) -> Vec<B> {
    let (blocks, rest) = bytes.as_chunks::<N>();
    debug_assert!(rest.is_empty(), "a row is whole blocks");
    blocks.iter().map(unpack).collect()
}

/// The little-endian f16 at a byte offset of a block.
fn f16_at(block: &[u8], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes([block[at], block[at + 1]]))
}

/// The uneven grid of `iq4_nl` and `iq4_xs`.
const IQ4_LEVELS: [i8; 16] =
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

#[cfg(test)]
mod tests;
