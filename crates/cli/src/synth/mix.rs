//! Mixes: which tensor is stored in which format, as llama-quantize chooses them.

use anyhow::{Result, ensure};
use minfer_models::TensorShape;
use minfer_quant::Quant;

/// A mix.
#[derive(Debug)]
pub struct Mix {
    /// Its name.
    pub name: &'static str,
    /// `general.file_type` of its files.
    pub file_type: u32,
    /// Format of most matrices.
    base: Quant,
    /// Format of the head, and of an embedding that serves as one.
    head: Quant,
    /// Format of the values' and down projections of the layers that get more bits.
    high: Quant,
}

const fn plain(name: &'static str, file_type: u32, base: Quant, head: Quant) -> Mix {
    Mix { name, file_type, base, head, high: base }
}

/// Every mix.
pub static MIXES: &[Mix] = &[
    plain("f32", 0, Quant::F32, Quant::F32),
    plain("f16", 1, Quant::F16, Quant::F16),
    plain("bf16", 32, Quant::BF16, Quant::BF16),
    plain("q4_0", 2, Quant::Q4_0, Quant::Q6_K),
    plain("q4_1", 3, Quant::Q4_1, Quant::Q6_K),
    plain("q5_0", 8, Quant::Q5_0, Quant::Q6_K),
    plain("q8_0", 7, Quant::Q8_0, Quant::Q8_0),
    Mix { high: Quant::Q6_K, ..plain("q4_k_m", 15, Quant::Q4_K, Quant::Q6_K) },
    plain("q6_k", 18, Quant::Q6_K, Quant::Q6_K),
];

impl Mix {
    /// The mix of a name.
    pub fn find(name: &str) -> Option<&'static Mix> {
        MIXES.iter().find(|mix| mix.name.eq_ignore_ascii_case(name))
    }

    /// The format of a tensor. Vectors and routers are f32; where a row does not fill whole blocks,
    /// a format with smaller blocks stands in.
    ///
    /// # Errors
    /// The tensor has no columns.
    pub fn quant(&self, tensor: &TensorShape, layers: usize, tied: bool) -> Result<Quant> {
        let name = tensor.name.as_str();
        let columns = tensor.dims.first().copied().unwrap_or(0) as usize;
        ensure!(columns > 0, "{name}: expected columns, found none");
        if tensor.dims.len() == 1 || name.contains("ffn_gate_inp") {
            return Ok(Quant::F32);
        }
        let wanted = match name {
            "output.weight" => self.head,
            "token_embd.weight" if tied => self.head,
            _ if is_sensitive(name) && layer(name).is_some_and(|l| more_bits(l, layers)) => {
                self.high
            }
            _other => self.base,
        };
        Ok(fitting(wanted, columns))
    }
}

/// Matrices whose errors cost most.
fn is_sensitive(name: &str) -> bool {
    name.contains(".attn_v.") || name.contains(".ffn_down")
}

/// `blk.N.…`
fn layer(name: &str) -> Option<usize> {
    name.strip_prefix("blk.")?.split('.').next()?.parse().ok()
}

/// The first and last eighth of the layers, and every third between.
fn more_bits(layer: usize, layers: usize) -> bool {
    let eighth = layers / 8;
    layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2
}

/// The format itself, or one whose blocks fill rows of so many columns.
fn fitting(wanted: Quant, columns: usize) -> Quant {
    let stand_in = match wanted {
        Quant::Q4_K => Quant::Q5_0,
        Quant::Q6_K => Quant::Q8_0,
        Quant::F32
        | Quant::F16
        | Quant::BF16
        | Quant::Q4_0
        | Quant::Q4_1
        | Quant::Q5_0
        | Quant::Q5_1
        | Quant::Q8_0
        | Quant::Q2_K
        | Quant::Q3_K
        | Quant::Q5_K
        | Quant::Q8_K
        | Quant::IQ1_S
        | Quant::IQ1_M
        | Quant::IQ2_XXS
        | Quant::IQ2_XS
        | Quant::IQ2_S
        | Quant::IQ3_XXS
        | Quant::IQ3_S
        | Quant::IQ4_NL
        | Quant::IQ4_XS
        | Quant::MXFP4
        | Quant::NVFP4
        | Quant::TQ1_0
        | Quant::TQ2_0 => wanted,
    };
    let fits = |quant: &Quant| columns.is_multiple_of(quant.block_len());
    [wanted, stand_in].into_iter().find(fits).unwrap_or(Quant::F16)
}
