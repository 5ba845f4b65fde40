//! Fusion: patterns of nodes that become one composite where the target says it can run it.
//!
//! The patterns are the same for every device and each can be switched off. A pattern looks at one
//! node and finds those before it that it wants to swallow. Swallowed values must have no other
//! reader; the composite takes the place of the last node of the pattern. Numbers do not change,
//! except by `norm_matmul`.

mod add_norm;
mod apply;
mod expert_gate_up;
mod gate_up;
mod glu;
mod glu_quantize;
mod matmul_add;
mod norm_add;
mod norm_gate_up;
mod norm_matmul;
mod norm_qkv;
mod norm_quantize;
mod qkv;

pub(crate) use apply::fuse;
use apply::{Match, View};

/// A pattern, by the composite it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fusion {
    /// `unary` and `mul` → `glu`.
    Glu,
    /// `matmul_group` and `glu` → `gate_up`.
    GateUp,
    /// Two `expert_matmul` and `glu` → `expert_gate_up`.
    ExpertGateUp,
    /// `matmul_group`, norms, `rope` and `kv_store` → `qkv`.
    Qkv,
    /// `rms_norm` and `qkv` → `qkv` that takes the norm in.
    NormQkv,
    /// `rms_norm` and `gate_up` → `gate_up` that takes the norm in.
    NormGateUp,
    /// `matmul` and `add` → `matmul_add`.
    MatmulAdd,
    /// `rms_norm` and `add` → `norm_add`.
    NormAdd,
    /// `rms_norm` and `quantize_rows` → `norm_quantize`.
    NormQuantize,
    /// `add` and `rms_norm` → `add_norm`.
    AddNorm,
    /// `glu` and `quantize_rows` → `glu_quantize`.
    GluQuantize,
    /// `rms_norm` and `matmul_group` → `norm_matmul`.
    NormMatmul,
}

/// All fusions in the order in which they are tried: what takes a norm or a sum into a matmul comes
/// before what joins the two to each other.
pub const FUSIONS: &[Fusion] = &[
    Fusion::Glu,
    Fusion::GateUp,
    Fusion::ExpertGateUp,
    Fusion::Qkv,
    Fusion::NormQkv,
    Fusion::NormGateUp,
    Fusion::MatmulAdd,
    Fusion::NormAdd,
    Fusion::NormQuantize,
    Fusion::AddNorm,
    Fusion::GluQuantize,
    Fusion::NormMatmul,
];

impl Fusion {
    /// Name in flags: that of the composite, after what it takes in.
    pub fn name(self) -> &'static str {
        match self {
            Fusion::Glu => "glu",
            Fusion::GateUp => "gate_up",
            Fusion::ExpertGateUp => "expert_gate_up",
            Fusion::Qkv => "qkv",
            Fusion::NormQkv => "norm_qkv",
            Fusion::NormGateUp => "norm_gate_up",
            Fusion::MatmulAdd => "matmul_add",
            Fusion::NormAdd => "norm_add",
            Fusion::NormQuantize => "norm_quantize",
            Fusion::AddNorm => "add_norm",
            Fusion::GluQuantize => "glu_quantize",
            Fusion::NormMatmul => "norm_matmul",
        }
    }

    fn find(self, view: &View<'_>, node: usize) -> Option<Match> {
        match self {
            Fusion::Glu => glu::find(view, node),
            Fusion::GateUp => gate_up::find(view, node),
            Fusion::ExpertGateUp => expert_gate_up::find(view, node),
            Fusion::Qkv => qkv::find(view, node),
            Fusion::NormQkv => norm_qkv::find(view, node),
            Fusion::NormGateUp => norm_gate_up::find(view, node),
            Fusion::MatmulAdd => matmul_add::find(view, node),
            Fusion::NormAdd => norm_add::find(view, node),
            Fusion::NormQuantize => norm_quantize::find(view, node),
            Fusion::AddNorm => add_norm::find(view, node),
            Fusion::GluQuantize => glu_quantize::find(view, node),
            Fusion::NormMatmul => norm_matmul::find(view, node),
        }
    }
}
