//! Many-row products with their operands staged as f16, in whole models.
//!
//! Each staged operand keeps 11 bits, a relative error of 2^-12 at most, and sums are f32, so a
//! product is off by about 2^-12 of what its terms come to. What the layers after it make of that
//! is the model's: scores of attention turn into weights by `exp`, so a score of size s that is off
//! by s * 2^-12 weighs its value wrongly by that share. With norms of q and k the scores stay small
//! (qwen3, gemma3, qwen3moe); without them random weights give large ones (llama, qwen2).
//! A router's choice is not continuous: where the last expert chosen and the first one left out are
//! all but equal, either may be taken, and the token goes another way.

use minfer_backend_metal::Staging;
use minfer_conformance::{Seeded, TinyRows};
use minfer_quant::{KvType, Quant};

use crate::harness::{ARCHITECTURES, VOCABULARY, Yardstick, apart, device, tiny};

/// Tokens of the texts: several tiles, and a part of one.
const LENGTH: usize = 150;

/// Largest difference, as a share of a position's largest logit: about three times the worst that
/// thousands of positions of each kind of model showed, which is 0.0285 without norms of q and k,
/// and 0.0056 with them.
fn bound(architecture: &str) -> f32 {
    match architecture {
        "llama" | "qwen2" => 0.08,
        _normed => 0.016,
    }
}

/// Routers whose probabilities of the last expert chosen and the first left out are no further
/// apart may choose either.
const UNDECIDED: f32 = 2e-3;

#[test]
fn logits_are_within_their_bounds() {
    for architecture in ARCHITECTURES {
        for (quant, kv) in [(Quant::Q8_0, KvType::F32), (Quant::Q4_1, KvType::F16)] {
            let yardstick = Yardstick::new(tiny(architecture, quant), LENGTH, kv);
            let found =
                yardstick.model(device(Staging::Half)).prompt(&yardstick.tokens, &[]).unwrap();
            let what = format!("{architecture} {} {}", quant.name(), kv.name());
            yardstick.hold(0, &found, bound(architecture), &what);
        }
    }
}

/// A step's values by name.
type Values = Vec<(String, Vec<u8>)>;

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// Rows of the step whose experts differ in some layer, each with how near its probabilities lie.
fn flips(expected: &Values, found: &Values) -> Vec<(String, usize, f32)> {
    let mut flips = Vec::new();
    for (at, (name, bytes)) in expected.iter().enumerate() {
        let Some(layer) = name.strip_suffix(".ffn_route") else { continue };
        // Experts come before their weights, and after the probabilities.
        if expected.get(at + 1).is_none_or(|(next, _)| next != name) {
            continue;
        }
        let probabilities = format!("{layer}.ffn_router_softmax");
        let probabilities = expected.iter().find(|(name, _)| *name == probabilities).unwrap();
        let probabilities = floats(&probabilities.1);
        let (experts, others) = (bytes.chunks(8), found[at].1.chunks(8));
        let rows = experts.zip(others).zip(probabilities.chunks(4)).enumerate();
        for (row, ((chosen, other), probabilities)) in rows {
            let set = |chosen: &[u8]| {
                let mut set: Vec<&[u8]> = chosen.chunks(4).collect();
                set.sort_unstable();
                set.concat()
            };
            if set(chosen) != set(other) {
                let mut sorted = probabilities.to_vec();
                sorted.sort_by(|a, b| b.total_cmp(a));
                flips.push((layer.to_owned(), row, sorted[1] - sorted[2]));
            }
        }
    }
    flips
}

/// A mixture of experts parts from the formulas where a router was undecided, and nowhere else.
#[test]
fn experts_differ_only_where_the_router_was_undecided() {
    let yardstick = Yardstick::new(tiny("qwen3moe", Quant::Q8_0), 1, KvType::F32);
    let mut by_formula = yardstick.traced(crate::harness::reference());
    let mut by_device = yardstick.traced(device(Staging::Half));
    let mut seen = 0;
    for seed in [0, 1, 6] {
        let mut seeded = Seeded::new(seed);
        let tokens: Vec<u32> = (0..LENGTH).map(|_| 3 + seeded.below(280) as u32).collect();
        let rows = [TinyRows { sequence: 0, position: 0, tokens: &tokens, outputs: LENGTH }];
        let expected = by_formula.values(&rows).unwrap();
        let found = by_device.values(&rows).unwrap();
        let flips = flips(&expected, &found);
        for (layer, row, gap) in &flips {
            assert!(*gap < UNDECIDED, "{layer}, row {row}: {gap} apart");
        }
        seen += flips.len();
        let (expected, found) =
            (floats(&expected.last().unwrap().1), floats(&found.last().unwrap().1));
        let logits = expected.chunks(VOCABULARY).zip(found.chunks(VOCABULARY));
        for (row, (expected, found)) in logits.enumerate() {
            // A flip of the last layer is its row's alone; later rows attend to those before.
            let touched = |(layer, at, _): &(String, usize, f32)| {
                *at == row || (*at < row && !layer.ends_with(".1"))
            };
            if !flips.iter().any(touched) {
                let apart = apart(expected, found);
                assert!(apart < bound("qwen3moe"), "text {seed}, position {row}: {apart}");
            }
        }
    }
    assert!(seen > 0, "no router was undecided: the texts show nothing");
}
