//! Types of values, weights and state.

use minfer_quant::{DType, KvType, Quant};

use crate::step::{Counts, StepShape};

/// Index of a weight in the model's weight list; the same in every graph of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WeightId(pub u32);

/// Index of a state declaration in the model's state list; the same in every graph of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u32);

/// What the rows of a value stand for, and how many there are of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// `per` rows for each token of the step.
    Tokens {
        /// Rows of one token.
        per: usize,
    },
    /// `per` rows for each output row of the step.
    Outputs {
        /// Rows of one output row.
        per: usize,
    },
    /// A table of fixed height.
    Fixed(usize),
}

impl Rows {
    /// One row per token.
    pub const TOKENS: Rows = Rows::Tokens { per: 1 };
    /// One row per output row.
    pub const OUTPUTS: Rows = Rows::Outputs { per: 1 };

    /// `k` rows for each of these.
    pub fn times(self, k: usize) -> Rows {
        match self {
            Rows::Tokens { per } => Rows::Tokens { per: per * k },
            Rows::Outputs { per } => Rows::Outputs { per: per * k },
            Rows::Fixed(rows) => Rows::Fixed(rows * k),
        }
    }

    /// Rows to reserve memory for: those of a full bucket.
    pub fn capacity(self, shape: &StepShape) -> usize {
        self.live(&Counts { tokens: shape.tokens, outputs: shape.outputs })
    }

    /// Rows that a step with these counts really has.
    pub fn live(self, counts: &Counts) -> usize {
        match self {
            Rows::Tokens { per } => counts.tokens * per,
            Rows::Outputs { per } => counts.outputs * per,
            Rows::Fixed(rows) => rows,
        }
    }
}

/// Type of a value: a row-major matrix of `rows` × `cols` elements of `dtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Element type; for `Q8_0` and `Q8_K` a whole row is one planar record.
    pub dtype: DType,
    /// What the rows stand for.
    pub rows: Rows,
    /// Elements in a row.
    pub cols: usize,
}

impl TensorType {
    /// A value of any type.
    pub fn new(dtype: DType, rows: Rows, cols: usize) -> TensorType {
        TensorType { dtype, rows, cols }
    }

    /// An f32 value.
    pub fn f32(rows: Rows, cols: usize) -> TensorType {
        TensorType::new(DType::F32, rows, cols)
    }

    /// An i32 value.
    pub fn i32(rows: Rows, cols: usize) -> TensorType {
        TensorType::new(DType::I32, rows, cols)
    }

    /// Bytes of one row. [`crate::verify`] has refused types whose rows do not fit their dtype's
    /// blocks.
    pub fn row_bytes(&self) -> usize {
        self.dtype.row_bytes(self.cols).expect("verified: the columns fill whole blocks")
    }

    /// Bytes of the value at the bucket's capacity.
    pub fn bytes(&self, shape: &StepShape) -> usize {
        self.rows.capacity(shape) * self.row_bytes()
    }
}

/// One weight of a model: `experts` matrices of `rows` × `cols` (a vector has one row), stored as
/// `quant` with rows contiguous. `rows` is the output dimension of a matmul and `cols` the input
/// dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WeightDecl {
    /// Name in the file.
    pub name: String,
    /// Stored format.
    pub quant: Quant,
    /// Matrices in the tensor: 1, or the number of experts.
    pub experts: usize,
    /// Output dimension (1 for vectors).
    pub rows: usize,
    /// Input dimension; contiguous.
    pub cols: usize,
}

impl WeightDecl {
    /// Bytes of all experts. The loader has checked that rows fill whole blocks.
    pub fn bytes(&self) -> usize {
        let row = self.quant.row_bytes(self.cols).expect("checked at load: rows fill whole blocks");
        row * self.rows * self.experts
    }
}

/// Memory that outlives a step, declared by the graph and owned by the device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StateDecl {
    /// The K and V cache of one layer, in pages of [`crate::PAGE_POSITIONS`] positions laid out
    /// `[page][kv_head][position][head_dim]`, K and V apart. Layers of one `group` share page
    /// tables and have pools of equal length. A `Q8_0` page is its int8 values and then its f16
    /// scales.
    Paged {
        /// KV group: layers with equal window, heads, head size and types.
        group: usize,
        /// Layer the cache belongs to.
        layer: usize,
        /// K/V heads.
        kv_heads: usize,
        /// Elements of one head's row.
        head_dim: usize,
        /// Stored type of K.
        key: KvType,
        /// Stored type of V.
        value: KvType,
        /// Positions a query sees, itself included; `None` sees all before it.
        window: Option<usize>,
    },
    /// A fixed number of bytes for each sequence.
    PerSequence {
        /// Layer the state belongs to.
        layer: usize,
        /// Bytes for one sequence.
        bytes: usize,
    },
}

impl StateDecl {
    /// Layer the state belongs to.
    pub fn layer(&self) -> usize {
        match self {
            StateDecl::Paged { layer, .. } | StateDecl::PerSequence { layer, .. } => *layer,
        }
    }

    /// Bytes of one page, K and V together (`PerSequence`: bytes for one sequence).
    pub fn page_bytes(&self) -> usize {
        match self {
            StateDecl::Paged { .. } => self.key_page_bytes() + self.value_page_bytes(),
            StateDecl::PerSequence { bytes, .. } => *bytes,
        }
    }

    /// Bytes of one page of K (0 for `PerSequence`).
    pub fn key_page_bytes(&self) -> usize {
        match self {
            StateDecl::Paged { kv_heads, head_dim, key, .. } => page(*key, *kv_heads, *head_dim),
            StateDecl::PerSequence { .. } => 0,
        }
    }

    /// Bytes of one page of V (0 for `PerSequence`).
    pub fn value_page_bytes(&self) -> usize {
        match self {
            StateDecl::Paged { kv_heads, head_dim, value, .. } => {
                page(*value, *kv_heads, *head_dim)
            }
            StateDecl::PerSequence { .. } => 0,
        }
    }
}

fn page(kv: KvType, kv_heads: usize, head_dim: usize) -> usize {
    let row = kv.row_bytes(head_dim).expect("verified: the head size suits the KV type");
    row * kv_heads * crate::PAGE_POSITIONS
}
