//! What ops ask of their operands, and what they tell kernels of them.

use minfer_graph::{StateDecl, StateId, TensorType, WeightId};
use minfer_plan::{Io, Layout, Unsupported};
use minfer_quant::{DType, KvType, Quant};

use super::NEVER_QUANTIZED;
use crate::source::is_read;

/// How the kernels know a cache's type.
pub(super) fn cache_kind(kv: KvType) -> u32 {
    match kv {
        KvType::F32 => 0,
        KvType::F16 => 1,
        KvType::BF16 => 2,
        KvType::Q8_0 => 3,
    }
}

/// A paged state: what `StateDecl::Paged` holds, and the bytes of its pages.
pub(super) struct Paged {
    pub(super) kv_heads: usize,
    pub(super) head_dim: usize,
    pub(super) key: KvType,
    pub(super) value: KvType,
    pub(super) window: Option<usize>,
    pub(super) key_page_bytes: u32,
    pub(super) value_page_bytes: u32,
}

impl Paged {
    /// The paged state of an id.
    pub(super) fn of(io: &Io<'_>, id: StateId) -> Result<Paged, Unsupported> {
        let decl = io.tables.state(id);
        let StateDecl::Paged { kv_heads, head_dim, key, value, window, .. } = *decl else {
            return Err(Unsupported::because("a state without pages"));
        };
        let bytes = |bytes: usize| {
            u32::try_from(bytes).map_err(|_| {
                Unsupported::because(format!("pages of {bytes} bytes, at most {} fit", u32::MAX))
            })
        };
        let key_page_bytes = bytes(decl.key_page_bytes())?;
        let value_page_bytes = bytes(decl.value_page_bytes())?;
        Ok(Paged { kv_heads, head_dim, key, value, window, key_page_bytes, value_page_bytes })
    }
}

/// Whether kernels read a weight's format.
pub(super) fn check_format(quant: Quant) -> Result<(), Unsupported> {
    if is_read(quant) {
        return Ok(());
    }
    Err(Unsupported::because(format!(
        "no kernel reads {}: run it on the CPU, or take a file of another format",
        quant.name()
    )))
}

/// Whether a matrix can be multiplied by activations of this type.
pub(super) fn check_matrix(io: &Io<'_>, id: WeightId, x: TensorType) -> Result<(), Unsupported> {
    let weight = io.tables.weight(id);
    if io.layout(id) != Layout::File {
        let layout = io.layout(id).name();
        return Err(Unsupported::because(format!("{} is laid out as {layout}", weight.name)));
    }
    check_format(weight.quant)?;
    if x.dtype != DType::F32 {
        let (found, name) = (x.dtype.name(), &weight.name);
        return Err(Unsupported::because(format!("{name} times {found}: {NEVER_QUANTIZED}")));
    }
    Ok(())
}

/// Whether a vector (norm, bias, sinks) is one that kernels read as it is.
pub(super) fn check_vector(io: &Io<'_>, id: WeightId) -> Result<(), Unsupported> {
    let weight = io.tables.weight(id);
    if weight.quant == Quant::F32 {
        return Ok(());
    }
    let (name, found) = (&weight.name, weight.quant.name());
    Err(Unsupported::because(format!("vectors are read as f32, {name} is {found}")))
}

/// Bytes of a row of a weight.
pub(super) fn row_bytes(io: &Io<'_>, id: WeightId) -> Result<u32, Unsupported> {
    let weight = io.tables.weight(id);
    let bytes = weight.quant.row_bytes(weight.cols);
    let bytes = bytes.map_err(|error| Unsupported::because(format!("{}: {error}", weight.name)))?;
    u32::try_from(bytes).map_err(|_| {
        let name = &weight.name;
        Unsupported::because(format!("{name}: rows of {bytes} bytes, at most {} fit", u32::MAX))
    })
}
