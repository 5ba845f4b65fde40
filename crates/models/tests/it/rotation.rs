//! Rotary frequencies, held to the formulas of their papers.

use std::f64::consts::TAU;

use minfer_graph::Op;
use minfer_graph::op::rope::{Pairs, Rope};

use crate::make::*;

/// The rope of q in a layer.
fn rope(draft: &Draft, layer: usize) -> Rope {
    let graph = graph(&draft.open().unwrap());
    let name = format!("blk.{layer}.rope_q");
    let node = graph.nodes.iter().find(|node| node.name == name).unwrap();
    let Op::Rope(rope) = &node.op else { panic!("{:?}", node.op) };
    rope.clone()
}

fn close(found: f64, expected: f64) {
    let error = (found - expected).abs();
    assert!(error <= 1e-12 * expected.abs(), "expected {expected}, found {found}");
}

/// Frequencies as a running product, for the base and the number of turned columns.
fn natural(base: f64, columns: usize) -> Vec<f64> {
    let ratio = base.powf(-2.0 / columns as f64);
    std::iter::successors(Some(1.0), |f| Some(f * ratio)).take(columns / 2).collect()
}

fn stretched(kind: &str, factor: f32) -> Draft {
    Draft::tiny("qwen3").with("rope.scaling.type", kind).with("rope.scaling.factor", factor)
}

#[test]
fn unstretched_frequencies_fall_geometrically() {
    for (name, pairs) in [("llama", Pairs::Interleaved), ("qwen2", Pairs::HalfSplit)] {
        let rope = rope(&Draft::tiny(name).with("rope.freq_base", 500_000.0f32), 1);
        assert_eq!((rope.pairs, rope.head_dim, rope.magnitude), (pairs, 32, 1.0));
        assert_eq!(rope.frequencies.len(), 16);
        for (found, expected) in rope.frequencies.iter().zip(natural(500_000.0, 32)) {
            close(*found, expected);
        }
    }
}

#[test]
fn a_part_of_a_head_may_be_turned() {
    let partial = rope(&Draft::tiny("llama").with("rope.dimension_count", 12u32), 0);
    assert_eq!((partial.frequencies.len(), partial.head_dim), (6, 32));
    for (found, expected) in partial.frequencies.iter().zip(natural(10_000.0, 12)) {
        close(*found, expected);
    }
    // An odd number of columns has one that is in no pair.
    let odd = rope(&Draft::tiny("llama").with("rope.dimension_count", 13u32), 0);
    assert_eq!(odd.frequencies, partial.frequencies);
}

#[test]
fn linear_stretching_divides_all() {
    let rope = rope(&stretched("linear", 8.0), 0);
    assert_eq!(rope.magnitude, 1.0);
    for (found, expected) in rope.frequencies.iter().zip(natural(10_000.0, 32)) {
        close(*found, expected / 8.0);
    }
}

#[test]
fn factors_divide_each() {
    let factors: Vec<f32> = (0..16).map(|i| if i < 5 { 1.0 } else { i as f32 }).collect();
    let draft = Draft::tiny("llama").with_tensor("rope_freqs.weight", &[16], factors.clone());
    let rope = rope(&draft, 1);
    for ((found, natural), factor) in
        rope.frequencies.iter().zip(natural(10_000.0, 32)).zip(factors)
    {
        close(*found, natural / f64::from(factor));
    }
}

/// Pairs that turn more than `beta_fast` times over the original context stay, those that turn less
/// than `beta_slow` times are divided, those between lie between.
#[test]
fn yarn_keeps_fast_pairs_and_divides_slow_ones() {
    let (fast, slow, context, factor) = (16.0, 2.0, 256.0, 4.0);
    let draft = stretched("yarn", factor as f32)
        .with("rope.scaling.yarn_beta_fast", fast as f32)
        .with("rope.scaling.yarn_beta_slow", slow as f32)
        .with("rope.scaling.original_context_length", context as u32);
    let rope = rope(&draft, 0);
    let mut between = 0;
    let mut last_share = 1.0;
    for (found, natural) in rope.frequencies.iter().zip(natural(10_000.0, 32)) {
        let turns = context * natural / TAU;
        if turns > fast {
            close(*found, natural);
        } else if turns < slow {
            close(*found, natural / factor);
        } else {
            between += 1;
        }
        // 1 is as trained, 1 / factor is divided; slower pairs are never divided less.
        let share = found / natural;
        assert!(share <= last_share + 1e-12 && share >= 1.0 / factor - 1e-12, "{share}");
        last_share = share;
    }
    assert!(between > 0);
    close(f64::from(rope.magnitude), f64::from((0.1 * factor.ln() + 1.0) as f32));
}

/// Pairs and their frequencies, computed in Python by the rule for base 10 000, 32 columns, a
/// context of 128, betas 32 and 1, and factor 4: the ramp goes from pair 0 to pair 6.
const YARN: [(usize, f64); 6] = [
    (0, 1.0),
    (1, 0.4920486595415554),
    (3, 0.11114246312743267),
    (5, 0.021087799694638087),
    (6, 0.007905694150420948),
    (15, 4.445698525097307e-05),
];

#[test]
fn yarn_has_known_figures() {
    let draft = stretched("yarn", 4.0).with("rope.scaling.original_context_length", 128u32);
    let rope = rope(&draft, 0);
    for (j, value) in YARN {
        close(rope.frequencies[j], value);
    }
}

#[test]
fn yarn_s_magnitude_has_two_more_factors() {
    let yarn = stretched("yarn", 4.0);
    let magnitude = |draft: &Draft| f64::from(rope(draft, 0).magnitude);
    let growth = 0.1 * 4f64.ln();
    let share = yarn.clone().with("rope.scaling.yarn_log_multiplier", 0.5f32);
    let expected = (1.0 + growth) / (1.0 + 0.5 * growth);
    close(magnitude(&share), f64::from(expected as f32));
    let factor = yarn.with("rope.scaling.attn_factor", 1.5f32);
    close(magnitude(&factor), f64::from((1.5 * (1.0 + growth)) as f32));
    // A context that is not stretched does not change the scores.
    close(magnitude(&stretched("yarn", 1.0)), 1.0);
}

/// Windowed layers have their own base and are not stretched.
#[test]
fn windows_have_their_own_rope() {
    let draft = Draft::tiny("gemma3")
        .with("rope.freq_base", 1_000_000.0f32)
        .with("rope.freq_base_swa", 5_000.0f32)
        .with("rope.scaling.type", "linear")
        .with("rope.scaling.factor", 8.0f32);
    for (layer, base, factor) in [(0, 5e3, 1.0), (4, 5e3, 1.0), (5, 1e6, 8.0), (6, 5e3, 1.0)] {
        let rope = rope(&draft, layer);
        for (found, natural) in rope.frequencies.iter().zip(natural(base, 32)) {
            close(*found, natural / factor);
        }
    }
}
