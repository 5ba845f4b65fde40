//! Rotary frequencies: bases and stretching become one frequency per pair and a magnitude.

use minfer_graph::op::rope::{Pairs, Rope};

use crate::config::{Config, Scaling};

/// The rope of layers without a window.
pub(crate) fn rope(config: &Config, pairs: Pairs) -> Rope {
    let natural = natural(config.rope_base, config.rope_dims);
    let (frequencies, magnitude) = match &config.scaling {
        Scaling::None => (natural, 1.0),
        Scaling::Linear { factor } => (natural.iter().map(|f| f / factor).collect(), 1.0),
        Scaling::Factors(factors) => {
            (natural.iter().zip(factors).map(|(f, r)| f / f64::from(*r)).collect(), 1.0)
        }
        Scaling::Yarn { .. } => yarn(config, &natural),
    };
    Rope { head_dim: config.head_dim, pairs, frequencies: frequencies.into(), magnitude }
}

/// The rope of windowed layers: another base, never stretched.
pub(crate) fn windowed(config: &Config, pairs: Pairs, base: f64) -> Rope {
    let frequencies = natural(base, config.rope_dims).into();
    Rope { head_dim: config.head_dim, pairs, frequencies, magnitude: 1.0 }
}

/// `base^(−2j / dims)` for each pair j.
fn natural(base: f64, dims: usize) -> Vec<f64> {
    (0..dims / 2).map(|j| base.powf(-2.0 * j as f64 / dims as f64)).collect()
}

/// YaRN: frequencies that turn often stay, those that turn seldom are divided, a ramp between;
/// scores grow by a magnitude on q and k (arXiv:2309.00071, section 3).
fn yarn(config: &Config, natural: &[f64]) -> (Vec<f64>, f32) {
    let Scaling::Yarn {
        factor,
        original_context,
        beta_fast,
        beta_slow,
        log_multiplier,
        attention_factor,
    } = config.scaling
    else {
        return (natural.to_vec(), 1.0);
    };
    let dims = config.rope_dims as f64;
    // The pair that makes `rotations` turns over the original context.
    let pair = |rotations: f64| {
        let turn = original_context / (std::f64::consts::TAU * rotations);
        dims * turn.ln() / (2.0 * config.rope_base.ln())
    };
    let low = pair(beta_fast).floor().max(0.0);
    let high = pair(beta_slow).ceil().min(dims - 1.0);
    let stretched = natural.iter().enumerate().map(|(j, f)| {
        let ramp = ((j as f64 - low) / (high - low).max(0.001)).clamp(0.0, 1.0);
        f * (1.0 - ramp) + f / factor * ramp
    });
    let growth = 0.1 * factor.max(1.0).ln();
    let magnitude = (1.0 + growth) / (1.0 + log_multiplier * growth) * attention_factor;
    (stretched.collect(), magnitude as f32)
}
