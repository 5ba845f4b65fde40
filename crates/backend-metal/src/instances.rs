//! Which instances of the kernels' templates there are, and what they are called.

use minfer_quant::{KvType, Quant};

/// A shape of the few-row kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Few {
    /// Rows of activations at most.
    pub(crate) rows: usize,
    /// Weight rows of a simdgroup: fewer where more sums must stay in registers.
    pub(crate) weight_rows: usize,
}

/// The shapes, each for what the one before it has no room for.
pub(crate) const FEW: [Few; 4] = [
    Few { rows: 1, weight_rows: 4 },
    Few { rows: 2, weight_rows: 4 },
    Few { rows: 4, weight_rows: 2 },
    Few { rows: 8, weight_rows: 2 },
];

/// Formats of q and k, and of v, that files have beside each other: a finer v costs little and
/// helps much, and widths that are no multiple of 256 fall back to other formats.
pub(crate) const MIXED: [[Quant; 2]; 10] = [
    [Quant::Q5_0, Quant::Q8_0],
    [Quant::Q5_1, Quant::Q8_0],
    [Quant::Q2_K, Quant::Q3_K],
    [Quant::Q2_K, Quant::Q4_K],
    [Quant::Q3_K, Quant::Q4_K],
    [Quant::Q3_K, Quant::Q5_K],
    [Quant::Q4_K, Quant::Q5_K],
    [Quant::Q4_K, Quant::Q6_K],
    [Quant::Q5_K, Quant::Q6_K],
    [Quant::IQ4_XS, Quant::Q5_K],
];

pub(crate) fn mixed_name([first, third]: [Quant; 2]) -> String {
    format!("matmul_mixed_{}_{}", first.name(), third.name())
}

pub(crate) fn few_name(kernel: &str, quant: Quant, few: Few) -> String {
    format!("{kernel}_{}_{}", quant.name(), few.rows)
}

/// Of a kernel that stages tiles.
pub(crate) fn many_name(kernel: &str, quant: Quant, half: bool) -> String {
    format!("{kernel}_{}_{}", quant.name(), if half { "half" } else { "float" })
}

/// Whether weights of a format may be staged as f16: those of f32 would lose bits, and those of
/// bf16 range.
pub(crate) fn may_round(quant: Quant) -> bool {
    quant != Quant::F32 && quant != Quant::BF16
}

/// Columns of V that a lane may have: each bounds the head sizes of a kernel at 32 times that.
pub(crate) const COLUMNS: [usize; 3] = [2, 4, 8];

pub(crate) fn attention_name(key: KvType, value: KvType, columns: usize) -> String {
    format!("attention_{}_{}_{}", key.name(), value.name(), 32 * columns)
}

/// Parts of 64 columns that a head has in the matrix kernel.
pub(crate) const PARTS: [usize; 4] = [1, 2, 3, 4];

pub(crate) fn prefill_name(half: bool, parts: usize) -> String {
    format!("attention_prefill_{}_{}", if half { "half" } else { "float" }, 64 * parts)
}
