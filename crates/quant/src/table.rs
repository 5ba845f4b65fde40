//! The table of weight formats: one row per format makes the enum, its ids, names and sizes, and
//! routes decode and encode to the format's file.

use crate::dtype::DType;
use crate::error::Error;
use crate::float::F16_MAX;
use crate::format;

/// Rows are `Variant = GGUF id, file in format/, encoder, activations`. The encoder is `any` (every
/// `f32` is accepted, rounded as IEEE says), `ranged` (|x| <= 65504, else an error) or `none`.
macro_rules! quants {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $id:literal, $file:ident, $encoder:ident, $activations:ident;
    )*) => {
        /// A format in which weights are stored.
        ///
        /// A row of values is cut into blocks of [`block_len`](Quant::block_len) values, each
        /// stored in [`block_bytes`](Quant::block_bytes) bytes; blocks follow each other without
        /// gaps.
        #[expect(non_camel_case_types, reason = "variants keep the names of the GGUF formats")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Quant {
            $( $(#[$doc])* $variant, )*
        }

        impl Quant {
            /// Every format, in the order of the table.
            pub const ALL: &[Self] = &[$( Self::$variant, )*];

            /// The one name of the format in files, dumps and documents, such as `q4_k`.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => stringify!($file), )* }
            }

            /// The type id that stands for the format in a GGUF file.
            pub const fn gguf_id(self) -> u32 {
                match self { $( Self::$variant => $id, )* }
            }

            /// The format of a GGUF type id, if it is in the table.
            pub const fn from_gguf_id(id: u32) -> Option<Self> {
                match id { $( $id => Some(Self::$variant), )* _ => None }
            }

            /// Values in one block.
            pub const fn block_len(self) -> usize {
                match self { $( Self::$variant => format::$file::LEN, )* }
            }

            /// Bytes of one block.
            pub const fn block_bytes(self) -> usize {
                match self { $( Self::$variant => format::$file::BYTES, )* }
            }

            /// Whether [`encode`](Quant::encode) exists for the format.
            pub const fn can_encode(self) -> bool {
                match self { $( Self::$variant => quants!(@can $encoder), )* }
            }

            /// The type of activation rows that weights of this format are multiplied by on the
            /// fast path (docs/numerics.md, "Sums").
            pub const fn activations(self) -> DType {
                match self { $( Self::$variant => DType::$activations, )* }
            }

            #[inline(always)]
            fn decode_blocks(self, bytes: &[u8], out: &mut [f32]) {
                match self {
                    $( Self::$variant => each_block!(bytes, out, format::$file::decode), )*
                }
            }

            fn encode_blocks(self, values: &[f32], out: &mut [u8]) -> Result<(), Error> {
                match self {
                    $( Self::$variant => quants!(@encode $encoder self $file values out), )*
                }
            }
        }
    };
    (@can none) => { false };
    (@can $encoder:ident) => { true };
    (@encode none $self:ident $file:ident $values:ident $out:ident) => {
        Err(Error::NoEncoder { format: $self.name() })
    };
    (@encode any $self:ident $file:ident $values:ident $out:ident) => {{
        each_block!($values, $out, format::$file::encode);
        Ok(())
    }};
    (@encode ranged $self:ident $file:ident $values:ident $out:ident) => {{
        $self.check_range($values)?;
        each_block!($values, $out, format::$file::encode);
        Ok(())
    }};
}

/// Runs `$step` over corresponding blocks; the caller has checked that the lengths match. A macro,
/// since a function that takes a function leaves the inlining to chance.
macro_rules! each_block {
    ($from:ident, $to:ident, $step:path) => {{
        let (from, from_rest) = $from.as_chunks();
        let (to, to_rest) = $to.as_chunks_mut();
        debug_assert!(from_rest.is_empty() && to_rest.is_empty() && from.len() == to.len());
        for (source, target) in from.iter().zip(to) {
            $step(source, target);
        }
    }};
}

quants! {
    /// IEEE binary32.
    F32 = 0, f32, any, F32;
    /// IEEE binary16.
    F16 = 1, f16, any, F32;
    /// The upper half of a binary32.
    BF16 = 30, bf16, any, F32;
    /// 4 bits and a scale per 32 values: 4.5 bits a value.
    Q4_0 = 2, q4_0, ranged, Q8_0;
    /// 4 bits, a scale and a minimum per 32 values: 5 bits a value.
    Q4_1 = 3, q4_1, ranged, Q8_0;
    /// 5 bits and a scale per 32 values: 5.5 bits a value.
    Q5_0 = 6, q5_0, ranged, Q8_0;
    /// 5 bits, a scale and a minimum per 32 values: 6 bits a value.
    Q5_1 = 7, q5_1, ranged, Q8_0;
    /// 8 bits and a scale per 32 values: 8.5 bits a value.
    Q8_0 = 8, q8_0, ranged, Q8_0;
    /// 2 bits, scales and minima of 4 bits per 16 values: 2.625 bits a value.
    Q2_K = 10, q2_k, ranged, Q8_K;
    /// 3 bits, scales of 6 bits per 16 values: 3.4375 bits a value.
    Q3_K = 11, q3_k, ranged, Q8_K;
    /// 4 bits, scales and minima of 6 bits per 32 values: 4.5 bits a value.
    Q4_K = 12, q4_k, ranged, Q8_K;
    /// 5 bits, scales and minima of 6 bits per 32 values: 5.5 bits a value.
    Q5_K = 13, q5_k, ranged, Q8_K;
    /// 6 bits, scales of 8 bits per 16 values: 6.5625 bits a value.
    Q6_K = 14, q6_k, ranged, Q8_K;
    /// 8 bits and an `f32` scale per 256 values, with sums: 9.125 bits a value.
    Q8_K = 15, q8_k, ranged, Q8_K;
    /// 8 values of 3 levels as 11 bits, scales of 3 bits per 32: 1.5625 bits a value.
    IQ1_S = 19, iq1_s, none, Q8_K;
    /// 8 values of 3 levels as 11 bits, scales of 3 bits per 16: 1.75 bits a value.
    IQ1_M = 29, iq1_m, none, Q8_K;
    /// 8 values of 3 levels as 8 bits, signs, scales of 4 bits per 32: 2.0625 bits a value.
    IQ2_XXS = 16, iq2_xxs, none, Q8_K;
    /// 8 values of 3 levels as 9 bits, signs, scales of 4 bits per 16: 2.3125 bits a value.
    IQ2_XS = 17, iq2_xs, none, Q8_K;
    /// 8 values of 3 levels as 10 bits, signs, scales of 4 bits per 16: 2.5625 bits a value.
    IQ2_S = 22, iq2_s, none, Q8_K;
    /// 4 values of 8 levels as 8 bits, signs, scales of 4 bits per 32: 3.0625 bits a value.
    IQ3_XXS = 18, iq3_xxs, none, Q8_K;
    /// 4 values of 8 levels as 9 bits, signs, scales of 4 bits per 32: 3.4375 bits a value.
    IQ3_S = 21, iq3_s, none, Q8_K;
    /// 4 bits on an uneven grid and a scale per 32 values: 4.5 bits a value.
    IQ4_NL = 20, iq4_nl, none, Q8_0;
    /// 4 bits on an uneven grid, scales of 6 bits per 32 values: 4.25 bits a value.
    IQ4_XS = 23, iq4_xs, none, Q8_K;
    /// 4-bit floats and a power-of-two scale per 32 values: 4.25 bits a value.
    MXFP4 = 39, mxfp4, none, Q8_0;
    /// 4-bit floats and an 8-bit float as scale per 16 values: 4.5 bits a value.
    NVFP4 = 40, nvfp4, none, Q8_0;
    /// 3 levels, five values a byte, and a scale per 256 values: 1.6875 bits a value.
    TQ1_0 = 34, tq1_0, ranged, Q8_K;
    /// 3 levels in 2 bits and a scale per 256 values: 2.0625 bits a value.
    TQ2_0 = 35, tq2_0, ranged, Q8_K;
}

impl Quant {
    /// The format called `name`, in any case (`Q4_K`, `q4_k`).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|quant| quant.name().eq_ignore_ascii_case(name))
    }

    /// The type of activation rows where an op asks for finer ones (the logits): beside 8-bit
    /// weights, 8-bit activations would be the larger error.
    pub const fn fine_activations(self) -> DType {
        if matches!(self, Self::Q8_0) { DType::Q16_0 } else { self.activations() }
    }

    /// Whether weights of this format can be multiplied by activation rows of a type.
    pub fn takes(self, dtype: DType) -> bool {
        [DType::F32, self.activations(), self.fine_activations()].contains(&dtype)
    }

    /// The name of a GGUF type id that exists but is not in the table, for an error message. Ids 4,
    /// 5, 31 to 33 and 36 to 38 were retired by the format.
    pub const fn unsupported_name(id: u32) -> Option<&'static str> {
        Some(match id {
            4 => "Q4_2",
            5 => "Q4_3",
            9 => "Q8_1",
            24 => "I8",
            25 => "I16",
            26 => "I32",
            27 => "I64",
            28 => "F64",
            31 => "Q4_0_4_4",
            32 => "Q4_0_4_8",
            33 => "Q4_0_8_8",
            36 => "IQ4_NL_4_4",
            37 => "IQ4_NL_4_8",
            38 => "IQ4_NL_8_8",
            41 => "Q1_0",
            _ => return None,
        })
    }

    /// Bytes of a row of `cols` values.
    ///
    /// # Errors
    /// [`Error::RowLength`] unless `cols` is a multiple of the block length;
    /// [`Error::RowTooLarge`] when the product does not fit.
    pub fn row_bytes(self, cols: usize) -> Result<usize, Error> {
        let block_len = self.block_len();
        if !cols.is_multiple_of(block_len) {
            return Err(Error::RowLength { format: self.name(), cols, block_len });
        }
        (cols / block_len)
            .checked_mul(self.block_bytes())
            .ok_or(Error::RowTooLarge { format: self.name(), cols })
    }

    /// Decodes whole blocks: `bytes` holds exactly `out.len()` values.
    ///
    /// # Errors
    /// [`Error::RowLength`] or [`Error::ByteLength`] when the two lengths do not belong together;
    /// nothing is written then. Every bit pattern decodes to something.
    // Inlined down to the formats' loops, so that they are compiled for the caller's instruction
    // set.
    #[inline(always)]
    pub fn decode(self, bytes: &[u8], out: &mut [f32]) -> Result<(), Error> {
        self.check_lengths(out.len(), bytes.len())?;
        self.decode_blocks(bytes, out);
        Ok(())
    }

    /// Encodes whole blocks: `out` takes exactly `values.len()` values.
    ///
    /// `f32`, `f16` and `bf16` accept every value and round to nearest, ties to even (a finite
    /// value beyond the `f16` range becomes infinite). All others accept finite values up to
    /// 65504 in magnitude.
    ///
    /// # Errors
    /// [`Error::NoEncoder`], [`Error::ValueOutOfRange`], and those of [`decode`](Quant::decode);
    /// nothing is written then.
    pub fn encode(self, values: &[f32], out: &mut [u8]) -> Result<(), Error> {
        self.check_lengths(values.len(), out.len())?;
        self.encode_blocks(values, out)
    }

    fn check_lengths(self, values: usize, found: usize) -> Result<(), Error> {
        let expected = self.row_bytes(values)?;
        if expected == found {
            return Ok(());
        }
        Err(Error::ByteLength { format: self.name(), values, expected, found })
    }

    fn check_range(self, values: &[f32]) -> Result<(), Error> {
        match values.iter().position(|value| !in_range(*value)) {
            None => Ok(()),
            Some(index) => {
                Err(Error::ValueOutOfRange { format: self.name(), index, value: values[index] })
            }
        }
    }
}

/// False for NaN and infinities too.
fn in_range(value: f32) -> bool {
    value.abs() <= F16_MAX
}
