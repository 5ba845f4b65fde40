//! Argument structs, declared once for Rust and for the kernels.
//!
//! Every field is four bytes wide, so that a struct has the same layout in both languages and no
//! padding: the assertion on its size then holds for every offset.

/// A field's type: its name in the kernels' language, and its bytes.
pub(crate) trait Field: Copy {
    /// Name of the type.
    const NAME: &'static str;

    /// As it lies in memory.
    fn bytes(self) -> [u8; 4];
}

impl Field for u32 {
    const NAME: &'static str = "uint";

    fn bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }
}

impl Field for f32 {
    const NAME: &'static str = "float";

    fn bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }
}

macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct $name { $($(#[$field_doc])* pub(crate) $field: $ty,)* }

            impl $name {
                /// As it lies in memory.
                pub(crate) fn bytes(&self) -> Vec<u8> {
                    [$(Field::bytes(self.$field)),*].concat()
                }
            }
        )*

        /// The structs in the kernels' language.
        pub(crate) fn declarations() -> String {
            let mut text = String::new();
            $(
                text += concat!("struct ", stringify!($name), " {\n");
                let fields = [$((<$ty as Field>::NAME, stringify!($field))),*];
                for (ty, field) in fields {
                    text += &format!("    {ty} {field};\n");
                }
                let name = stringify!($name);
                let size = 4 * fields.len();
                text += &format!("}};\nstatic_assert(sizeof({name}) == {size}, \"{name}\");\n\n");
            )*
            text
        }
    };
}

arguments! {
    /// Of matmul_many.
    MatmulArguments {
        /// Columns of activations and weight.
        cols: u32,
        /// Rows of the weight.
        outputs: u32,
        /// Bytes of a weight row.
        row_bytes: u32,
        /// Whether a bias is bound.
        has_bias: u32,
        /// Whether a residual is.
        has_residual: u32,
    }

    /// Of matmul_few and matmul_mixed, for up to three matrices; those that are not there have no
    /// rows.
    FewArguments {
        /// Columns of activations and weights.
        cols: u32,
        /// Bytes of a weight row.
        row_bytes: u32,
        /// Those of the third matrix.
        row_bytes2: u32,
        /// Rows of the first matrix.
        outputs0: u32,
        /// Rows of the second.
        outputs1: u32,
        /// Rows of the third.
        outputs2: u32,
        /// Whether the first has a bias.
        has_bias0: u32,
        /// Whether the second has.
        has_bias1: u32,
        /// Whether the third has.
        has_bias2: u32,
        /// Whether the activations are still to be normed.
        has_norm: u32,
        /// Added to their mean square.
        eps: f32,
        /// Whether a residual is added to the first product.
        has_residual: u32,
    }

    /// Of gate_up.
    GateUpArguments {
        /// Columns of activations and weights.
        cols: u32,
        /// Rows of a matrix.
        outputs: u32,
        /// Bytes of a weight row.
        row_bytes: u32,
        /// Whether the gate has a bias.
        has_gate_bias: u32,
        /// Whether up has.
        has_up_bias: u32,
        /// Whether the activations are still to be normed.
        has_norm: u32,
        /// Added to their mean square.
        eps: f32,
        /// Function of the gate.
        function: u32,
        /// Its cap.
        factor: f32,
    }

    /// Of qkv_finish.
    QkvArguments {
        /// Query heads.
        heads: u32,
        /// K/V heads.
        kv_heads: u32,
        /// Columns of a head.
        head_dim: u32,
        /// Pairs that are turned.
        pairs: u32,
        /// Whether a pair's columns are neighbours.
        interleaved: u32,
        /// Whether q and k are normed.
        has_norms: u32,
        /// Type of K: f32, f16, bf16, q8_0.
        key_kind: u32,
        /// Type of V.
        value_kind: u32,
        /// Bytes of a page of K.
        key_page_bytes: u32,
        /// Bytes of a page of V.
        value_page_bytes: u32,
        /// Factor on the turned pairs.
        magnitude: f32,
        /// Added to q's mean square.
        q_eps: f32,
        /// Added to k's.
        k_eps: f32,
    }

    /// Of expert_matmul.
    ExpertMatmulArguments {
        /// Columns of activations and weights.
        cols: u32,
        /// Rows of an expert's matrix.
        outputs: u32,
        /// Bytes of a weight row.
        row_bytes: u32,
        /// Pairs that share a row of activations.
        ranks: u32,
    }

    /// Of expert_gate_up.
    ExpertGateUpArguments {
        /// Columns of activations and weights.
        cols: u32,
        /// Rows of an expert's matrix.
        outputs: u32,
        /// Bytes of a weight row.
        row_bytes: u32,
        /// Pairs that share a row of activations.
        ranks: u32,
        /// Function of the gate.
        function: u32,
        /// Its cap.
        factor: f32,
    }

    /// Of expert_matmul_lists.
    ExpertListArguments {
        /// Experts.
        experts: u32,
        /// Tiles of pairs at most.
        tiles: u32,
    }

    /// Of expert_matmul_many.
    ExpertTileArguments {
        /// Columns of activations and weights.
        cols: u32,
        /// Rows of an expert's matrix.
        outputs: u32,
        /// Bytes of a weight row.
        row_bytes: u32,
        /// Pairs that share a row of activations.
        ranks: u32,
        /// Tiles of pairs at most.
        tiles: u32,
    }

    /// Of embed.
    EmbedArguments {
        /// Columns of the matrix.
        cols: u32,
        /// Rows of the matrix.
        rows: u32,
        /// Bytes of one.
        row_bytes: u32,
    }

    /// Of rms_norm, add_norm and norm_add.
    NormArguments {
        /// Columns that are normed together.
        cols: u32,
        /// Added to the mean square.
        eps: f32,
    }

    /// Of the elementwise kernels.
    ElementArguments {
        /// Columns of a row.
        cols: u32,
        /// Which activation function.
        function: u32,
        /// Its cap, or the factor of a scaling.
        factor: f32,
    }

    /// Of expert_combine.
    CombineArguments {
        /// Columns of a row.
        cols: u32,
        /// Experts of a token.
        ranks: u32,
    }

    /// Of rope.
    RopeArguments {
        /// Heads of a row.
        heads: u32,
        /// Columns of a head.
        head_dim: u32,
        /// Pairs that are turned.
        pairs: u32,
        /// Whether a pair's columns are neighbours.
        interleaved: u32,
        /// Factor on the turned pairs.
        magnitude: f32,
    }

    /// Of kv_store.
    StoreArguments {
        /// Type of the cache: f32, f16, bf16, q8_0.
        kind: u32,
        /// K/V heads.
        kv_heads: u32,
        /// Columns of a head.
        head_dim: u32,
        /// Bytes of a page.
        page_bytes: u32,
    }

    /// Of the attention kernels.
    AttentionArguments {
        /// Query heads.
        heads: u32,
        /// K/V heads.
        kv_heads: u32,
        /// Columns of a head.
        head_dim: u32,
        /// Entries of a page table.
        table_pages: u32,
        /// Bytes of a page of K.
        key_page_bytes: u32,
        /// Bytes of a page of V.
        value_page_bytes: u32,
        /// Positions that a query sees; the largest number where it sees all.
        window: u32,
        /// Rows of the work list.
        items: u32,
        /// Whether scores are capped.
        has_cap: u32,
        /// Whether sinks are bound.
        has_sinks: u32,
        /// Type of K: f32, f16, bf16, q8_0.
        key_kind: u32,
        /// Type of V.
        value_kind: u32,
        /// Factor on q·k.
        scale: f32,
        /// The cap.
        soft_cap: f32,
    }

    /// Of softmax, argmax, top_k, top_k_runs and route.
    SelectArguments {
        /// Columns of a row.
        cols: u32,
        /// Elements to pick.
        k: u32,
        /// Whether what is picked is made to sum to one.
        normalize: u32,
    }

    /// Of top_k_merge.
    MergeArguments {
        /// Elements of a row to choose from.
        candidates: u32,
        /// Elements to pick.
        k: u32,
        /// Whether they are wanted beside their columns.
        has_values: u32,
    }
}
