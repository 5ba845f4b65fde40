//! Sequences side by side, on pages of their own and on shared ones.

use minfer_backend_metal::Staging;
use minfer_conformance::{Seeded, TinyModel, TinyRows};
use minfer_quant::{KvType, Quant};

use crate::harness::{ARCHITECTURES, VOCABULARY, Yardstick, device, tiny};

/// Tokens of the longest text.
const LENGTH: usize = 75;

fn rows(sequence: usize, position: usize, tokens: &[u32]) -> TinyRows<'_> {
    TinyRows { sequence, position, tokens, outputs: tokens.len() }
}

fn bits(logits: &[f32]) -> Vec<u32> {
    logits.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn sixty_four_sequences_take_a_step_together() {
    for architecture in ["llama", "gemma3", "qwen3moe"] {
        let yardstick = Yardstick::new(tiny(architecture, Quant::Q8_0), LENGTH, KvType::F32);
        let mut model = yardstick.room(device(Staging::Full), [64, LENGTH]);
        let tokens = &yardstick.tokens;
        // Every sequence has begun the same text and come so far; then one token of each.
        let depth = |sequence: usize| sequence * 9 % 70;
        let begun = (0..64).filter(|sequence| depth(*sequence) > 0);
        let begun: Vec<_> = begun.map(|s| rows(s, 0, &tokens[..depth(s)])).collect();
        model.step(&begun).unwrap();
        let at = |s: usize| rows(s, depth(s), &tokens[depth(s)..=depth(s)]);
        let step: Vec<_> = (0..64).map(at).collect();
        let found = model.step(&step).unwrap();
        for (sequence, logits) in found.chunks(VOCABULARY).enumerate() {
            let what = format!("{architecture}, sequence {sequence}");
            yardstick.hold(depth(sequence), logits, 2e-5, &what);
        }
    }
}

/// Prompts that begin alike stand on one copy of the beginning's pages.
#[test]
fn shared_and_copied_pages_give_the_bits_of_pages_of_ones_own() {
    for architecture in ARCHITECTURES {
        for kv in [KvType::F32, KvType::Q8_0] {
            let yardstick = Yardstick::new(tiny(architecture, Quant::Q8_0), LENGTH, kv);
            let mut model = yardstick.room(device(Staging::Full), [4, LENGTH]);
            let tokens = &yardstick.tokens;
            let what = format!("{architecture} {}", kv.name());
            // One whole page and 18 positions of the next.
            let (begin, next) = (&tokens[..50], &tokens[50..60]);
            model.step(&[rows(0, 0, begin), rows(1, 0, begin)]).unwrap();
            let own = bits(&model.step(&[rows(1, 50, next)]).unwrap());
            // Sequence 2 shares the whole page and goes on in a copy of the other.
            let (from, to) = (model.pages(0)[1], model.pages(2)[1]);
            model.pages(2)[0] = model.pages(0)[0];
            model.copy_page(from, to).unwrap();
            let other: Vec<u32> = next.iter().rev().copied().collect();
            model.step(&[rows(2, 50, &other)]).unwrap();
            assert_eq!(bits(&model.step(&[rows(2, 50, next)]).unwrap()), own, "{what}: the copy");
            // What was copied has not changed.
            assert_eq!(bits(&model.step(&[rows(0, 50, next)]).unwrap()), own, "{what}: the source");
            // Both read the shared page in one step; 20 rows take the kernels of many as well.
            let both = model.step(&[rows(0, 50, next), rows(2, 50, next)]).unwrap();
            assert_eq!(bits(&both), [own.clone(), own].concat(), "{what}: together");
        }
    }
}

/// Two rows of a sequence read a deep cache whole, a single one reads it in partitions, which are
/// put together in another kernel.
#[test]
fn a_deep_cache_gives_the_same_bits_whole_and_in_partitions() {
    for architecture in ["llama", "gemma3"] {
        let yardstick = Yardstick::new(tiny(architecture, Quant::Q8_0), 3, KvType::F16);
        let text = crate::harness::tokens(530);
        let mut model = yardstick.room(device(Staging::Full), [1, 530]);
        model.step(&[rows(0, 0, &text[..525])]).unwrap();
        let alone = bits(&model.step(&[rows(0, 525, &text[525..526])]).unwrap());
        let first = bits(&model.step(&[rows(0, 525, &text[525..528])]).unwrap());
        assert_eq!(first[..VOCABULARY], alone[..], "{architecture}");
    }
}

#[test]
fn copies_of_pages_that_do_not_exist_are_refused() {
    let yardstick = Yardstick::new(tiny("gemma3", Quant::Q8_0), 5, KvType::F16);
    let mut model = yardstick.room(device(Staging::Full), [1, 5]);
    for (from, to) in [(0, 1000), (1000, 0), (-1, 0)] {
        let error = model.copy_page(from, to).unwrap_err();
        assert!(error.contains("no such KV page"), "{error}");
    }
    let found = model.prompt(&yardstick.tokens, &[]).unwrap();
    yardstick.hold(0, &found, 2e-3, "after a refusal");
}

/// Steps of sequences in random company: each row has the bits of its solo run, where both took
/// the kernels of many rows.
#[test]
fn rows_of_large_steps_have_the_bits_of_their_solo_runs() {
    for architecture in ARCHITECTURES {
        let yardstick = Yardstick::new(tiny(architecture, Quant::Q8_0), LENGTH, KvType::F16);
        let tokens = &yardstick.tokens;
        let (mut alone, mut together) = (many(&yardstick, 1), many(&yardstick, 5));
        let solo = bits(&alone.prompt(tokens, &[LENGTH]).unwrap());
        for seed in 0..3 {
            let mut seeded = Seeded::new(seed);
            let mut positions = [0; 5];
            while positions.iter().any(|position| *position < LENGTH) {
                let mut parts = Vec::new();
                for (sequence, position) in positions.iter_mut().enumerate() {
                    let count = seeded.below(24).min(LENGTH - *position);
                    if count > 0 && seeded.below(3) > 0 {
                        parts.push(rows(
                            sequence,
                            *position,
                            &tokens[*position..*position + count],
                        ));
                        *position += count;
                    }
                }
                if parts.is_empty() {
                    continue;
                }
                let found = bits(&together.step(&parts).unwrap());
                let mut found = found.chunks(VOCABULARY);
                for part in &parts {
                    for at in part.position..part.position + part.tokens.len() {
                        let expected = &solo[at * VOCABULARY..(at + 1) * VOCABULARY];
                        let same = found.next() == Some(expected);
                        assert!(same, "{architecture}, schedule {seed}, {part:?}, position {at}");
                    }
                }
            }
        }
    }
}

/// A model whose steps are all planned for many rows.
fn many(yardstick: &Yardstick, sequences: usize) -> TinyModel {
    yardstick.room(device(Staging::Full), [sequences, LENGTH]).in_buckets_of(128)
}
