//! Types of activations, and how a quantized row lies in memory.
//!
//! A quantized row is planar: all values, then all scales, then all sums, so that a kernel loads
//! each with full vectors. Multi-byte numbers are in the machine's own order: rows never leave it.

use std::ops::Range;

use crate::error::Error;

/// The element type of an activation.
///
/// Quantized rows follow one rule with a block of B = 32 (`Q8_0`, `Q16_0`) or 256 (`Q8_K`) values
/// and L = 127 or 32767 (`Q16_0`) levels: amax = max |x|; scale = amax / L; inverse = L / amax (0
/// where that is not finite); q = round_ties_even(x * inverse), all in `f32`. A block with a NaN or
/// an infinity has scale = NaN and q = 0, so that a fault stays visible.
#[expect(non_camel_case_types, reason = "variants keep the names of the GGUF formats")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// IEEE binary32.
    F32,
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// Signed 32-bit integers: token ids, positions, tables.
    I32,
    /// n int8 values, n / 32 f32 scales, n / 32 i32 sums of a block's int8 values.
    Q8_0,
    /// n int8 values, n / 256 f32 scales, n / 16 i16 sums of 16 int8 values each.
    Q8_K,
    /// n int16 values, n / 32 f32 scales, no sums.
    Q16_0,
}

impl DType {
    /// Every type.
    pub const ALL: &[Self] =
        &[Self::F32, Self::F16, Self::BF16, Self::I32, Self::Q8_0, Self::Q8_K, Self::Q16_0];

    /// The name in dumps and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::I32 => "i32",
            Self::Q8_0 => "q8_0",
            Self::Q8_K => "q8_k",
            Self::Q16_0 => "q16_0",
        }
    }

    /// The type called `name`, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dtype| dtype.name().eq_ignore_ascii_case(name))
    }

    /// Values that share a scale; 1 where there is none.
    pub const fn block_len(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::BF16 | Self::I32 => 1,
            Self::Q8_0 | Self::Q16_0 => 32,
            Self::Q8_K => 256,
        }
    }

    /// Bytes of a row of `cols` values.
    ///
    /// # Errors
    /// [`Error::RowLength`] unless `cols` is a multiple of the block length;
    /// [`Error::RowTooLarge`] when the size does not fit.
    pub fn row_bytes(self, cols: usize) -> Result<usize, Error> {
        Ok(self.planes(cols)?.bytes())
    }

    /// Where the planes of a row of `cols` values lie; unquantized types have values alone.
    ///
    /// # Errors
    /// Those of [`row_bytes`](DType::row_bytes).
    pub fn planes(self, cols: usize) -> Result<Planes, Error> {
        let block_len = self.block_len();
        if !cols.is_multiple_of(block_len) {
            return Err(Error::RowLength { format: self.name(), cols, block_len });
        }
        // Bytes per value, of the scales and of the sums of a row.
        let (width, scales, sums) = match self {
            Self::F32 | Self::I32 => (4, 0, 0),
            Self::F16 | Self::BF16 => (2, 0, 0),
            Self::Q8_0 => (1, cols / 32 * 4, cols / 32 * 4),
            Self::Q8_K => (1, cols / 256 * 4, cols / 16 * 2),
            Self::Q16_0 => (2, cols / 32 * 4, 0),
        };
        let too_large = Error::RowTooLarge { format: self.name(), cols };
        let values = cols.checked_mul(width).ok_or(too_large.clone())?;
        let sums_at = values.checked_add(scales).ok_or(too_large.clone())?;
        let end = sums_at.checked_add(sums).ok_or(too_large)?;
        Ok(Planes { scales_at: values, sums_at, end })
    }
}

/// The planes of one activation row: byte offsets from the start of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planes {
    scales_at: usize,
    sums_at: usize,
    end: usize,
}

impl Planes {
    /// Bytes of the values.
    pub const fn values(&self) -> Range<usize> {
        0..self.scales_at
    }

    /// Bytes of the f32 scales, one per block.
    pub const fn scales(&self) -> Range<usize> {
        self.scales_at..self.sums_at
    }

    /// Bytes of the sums: i32 per 32 values (`Q8_0`), i16 per 16 values (`Q8_K`).
    pub const fn sums(&self) -> Range<usize> {
        self.sums_at..self.end
    }

    /// Bytes of the row.
    pub const fn bytes(&self) -> usize {
        self.end
    }

    /// The row's values, scales and sums; `None` where `row` is not exactly one row long.
    pub fn split<'a>(&self, row: &'a [u8]) -> Option<[&'a [u8]; 3]> {
        if row.len() != self.end {
            return None;
        }
        Some([&row[self.values()], &row[self.scales()], &row[self.sums()]])
    }

    /// The same, to be written.
    pub fn split_mut<'a>(&self, row: &'a mut [u8]) -> Option<[&'a mut [u8]; 3]> {
        if row.len() != self.end {
            return None;
        }
        let (values, rest) = row.split_at_mut(self.scales_at);
        let (scales, sums) = rest.split_at_mut(self.sums_at - self.scales_at);
        Some([values, scales, sums])
    }
}
