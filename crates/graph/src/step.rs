//! The shape of a step, and the data that a step brings.

use minfer_quant::KvType;

use crate::value::{Rows, TensorType};

/// Positions in a KV page; attention's tiles are pages.
pub const PAGE_POSITIONS: usize = 32;

/// Positions in an attention partition; partitions are combined in index order.
pub const PARTITION_POSITIONS: usize = 512;

/// Integers in one row of an attention work list, in the order of [`Work`]'s fields.
pub const WORK_FIELDS: usize = 6;

/// What the host wants of each output row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// All logits, f32.
    Logits,
    /// The id of the largest logit.
    Argmax,
    /// Both: the id so that a next step may begin before the host has seen the logits.
    LogitsAndId,
    /// The ids and logits of the k largest, in falling order.
    TopK(usize),
}

/// Which rows a step brings. A device whose kernels add in another order when there are more rows
/// chooses them by the kind where this is not mixed, so that a row has the same bits in any step
/// of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// Any: devices take what is fastest for so many.
    #[default]
    Mixed,
    /// Rows of prompts.
    Prompt,
    /// Tokens that were chosen.
    Decode,
}

/// Stored types of K and V, chosen apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KvTypes {
    /// Type of K.
    pub key: KvType,
    /// Type of V.
    pub value: KvType,
}

/// Everything besides the model that decides a graph's topology: a bucket and the engine's
/// constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepShape {
    /// Token rows reserved; a step brings at most so many.
    pub tokens: usize,
    /// Output rows reserved.
    pub outputs: usize,
    /// What is computed of each output row.
    pub want: Want,
    /// Which rows they are.
    pub kind: StepKind,
    /// Types of the KV cache.
    pub kv: KvTypes,
    /// Page tables in a step: sequences that may take part.
    pub sequences: usize,
    /// Entries of one page table: pages of the longest context.
    pub pages: usize,
    /// Rows of an attention work list.
    pub work: usize,
    /// Partial results that attention may keep at once.
    pub partials: usize,
}

/// How much of its bucket a step fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Tokens in the step.
    pub tokens: usize,
    /// Output rows in the step.
    pub outputs: usize,
}

/// A step's inputs: data, never topology. All are i32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Token ids, one per token row.
    Tokens,
    /// Positions in their sequences, one per token row.
    Positions,
    /// Token rows whose output is asked for, one per output row.
    OutputRows,
    /// Cache slots (page × 32 + offset) that a KV group's token rows are stored to.
    Slots {
        /// KV group.
        group: usize,
    },
    /// Page tables of a KV group: one row per sequence of the step; entry i holds positions
    /// 32i…32i+31.
    Pages {
        /// KV group.
        group: usize,
    },
    /// Attention work of a KV group, one [`Work`] a row; unused rows have `rows = 0`.
    Work {
        /// KV group.
        group: usize,
    },
}

impl Input {
    /// Type of the input in a step of `shape`.
    pub fn tensor_type(self, shape: &StepShape) -> TensorType {
        match self {
            Input::Tokens | Input::Positions | Input::Slots { .. } => {
                TensorType::i32(Rows::TOKENS, 1)
            }
            Input::OutputRows => TensorType::i32(Rows::OUTPUTS, 1),
            Input::Pages { .. } => TensorType::i32(Rows::Fixed(shape.sequences), shape.pages),
            Input::Work { .. } => TensorType::i32(Rows::Fixed(shape.work), WORK_FIELDS),
        }
    }

    /// Name in dumps.
    pub fn name(self) -> String {
        match self {
            Input::Tokens => "tokens".into(),
            Input::Positions => "positions".into(),
            Input::OutputRows => "output_rows".into(),
            Input::Slots { group } => format!("slots.{group}"),
            Input::Pages { group } => format!("pages.{group}"),
            Input::Work { group } => format!("work.{group}"),
        }
    }
}

/// One item of attention work: token rows `row..row + rows` of one sequence against KV positions
/// `kv_start..kv_end`, which starts at a multiple of [`PARTITION_POSITIONS`]. With `slot < 0` the
/// item covers all partitions its rows see and writes the final result, combining partitions in
/// index order. With `slot >= 0` it covers one partition and leaves one partial result (maximum,
/// sum, accumulator) per row and head in partial slots `slot..slot + rows`; the partials of a row
/// lie `rows` slots apart, partition by partition from the row's first. Both ways give the same
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// First token row.
    pub row: i32,
    /// Token rows, at consecutive positions of one sequence.
    pub rows: i32,
    /// Row of the page table.
    pub sequence: i32,
    /// First KV position.
    pub kv_start: i32,
    /// One past the last KV position.
    pub kv_end: i32,
    /// First partial slot, or -1.
    pub slot: i32,
}

impl Work {
    /// The item as a row of the work input.
    pub fn to_row(self) -> [i32; WORK_FIELDS] {
        [self.row, self.rows, self.sequence, self.kv_start, self.kv_end, self.slot]
    }

    /// The item of a row of the work input.
    pub fn from_row(row: [i32; WORK_FIELDS]) -> Work {
        let [row, rows, sequence, kv_start, kv_end, slot] = row;
        Work { row, rows, sequence, kv_start, kv_end, slot }
    }
}
