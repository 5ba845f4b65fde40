//! The closed set of ops: one file each, one row in `ops!`.
//!
//! A file holds the op's attributes, formula, shape rule, cost and, for a composite, its
//! decomposition into primitives. `reference` has the executable definition under the same name,
//! `conformance` the cases, and each device the kernel.

pub(crate) mod check;

// Primitives, in the order in which a model meets them.
pub mod add;
pub mod argmax;
pub mod attention;
pub mod embed;
pub mod expert_combine;
pub mod expert_matmul;
pub mod get_rows;
pub mod kv_store;
pub mod matmul;
pub mod matmul_group;
pub mod mul;
pub mod qk_norm;
pub mod quantize_rows;
pub mod rms_norm;
pub mod rope;
pub mod route;
pub mod scale;
pub mod softmax;
pub mod top_k;
pub mod unary;
// Composites.
pub mod add_norm;
pub mod expert_gate_up;
pub mod gate_up;
pub mod glu;
pub mod glu_quantize;
pub mod matmul_add;
pub mod norm_add;
pub mod norm_matmul;
pub mod norm_quantize;
pub mod qkv;

use minfer_quant::DType;

pub use crate::op_def::{Cost, OpDef};
pub use unary::Activation;

macro_rules! ops {
    ($($variant:ident => $module:ident),* $(,)?) => {
        /// An op with its attributes.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Op {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $variant($module::$variant),)*
        }

        /// An op without its attributes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum OpKind {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $variant,)*
        }

        impl OpKind {
            /// Every op.
            pub const ALL: &'static [OpKind] = &[$(OpKind::$variant,)*];

            /// The op's name: its file's name in every crate.
            pub fn name(self) -> &'static str {
                match self { $(OpKind::$variant => stringify!($module),)* }
            }
        }

        impl Op {
            /// The op without its attributes.
            pub fn kind(&self) -> OpKind {
                match self { $(Op::$variant(_) => OpKind::$variant,)* }
            }

            /// What the op says of itself.
            pub fn def(&self) -> &dyn OpDef {
                match self { $(Op::$variant(op) => op,)* }
            }
        }

        $(impl From<$module::$variant> for Op {
            fn from(op: $module::$variant) -> Op { Op::$variant(op) }
        })*
    };
}

ops! {
    Embed => embed,
    GetRows => get_rows,
    QuantizeRows => quantize_rows,
    Matmul => matmul,
    MatmulGroup => matmul_group,
    Add => add,
    Mul => mul,
    Scale => scale,
    Unary => unary,
    RmsNorm => rms_norm,
    QkNorm => qk_norm,
    Rope => rope,
    KvStore => kv_store,
    Attention => attention,
    Softmax => softmax,
    Route => route,
    ExpertMatmul => expert_matmul,
    ExpertCombine => expert_combine,
    Argmax => argmax,
    TopK => top_k,
    Glu => glu,
    AddNorm => add_norm,
    NormQuantize => norm_quantize,
    GluQuantize => glu_quantize,
    NormMatmul => norm_matmul,
    NormAdd => norm_add,
    MatmulAdd => matmul_add,
    Qkv => qkv,
    GateUp => gate_up,
    ExpertGateUp => expert_gate_up,
}

/// Types in which a matmul takes its activations.
pub(crate) const OPERAND_TYPES: [DType; 4] = [DType::F32, DType::Q8_0, DType::Q8_K, DType::Q16_0];
