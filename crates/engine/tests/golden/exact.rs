//! The exact path against float64: weights decoded to f32, f32 activations and cache.

use crate::data::{BOTH, GEMMA3, Golden, SMOLLM2, worst};

const ALLOWED: f64 = 1e-4;

#[test]
fn top_ten_of_every_prompt() {
    for golden in BOTH {
        let mut engine = golden.engine(|o| o.exact = true);
        for prompt in golden.prompts() {
            let last = prompt.ids.len() - 1;
            let mut found = f64::INFINITY;
            let sink = &mut |_, logits: &[f32]| found = worst(logits, &prompt.top);
            engine.score(&prompt.ids, last, sink).expect("scores");
            assert!(found <= ALLOWED, "{} {}: {found:e}", golden.name, prompt.name);
        }
    }
}

/// The 19 positions of the long text in steps of at most `chunk` tokens: within tolerance of
/// float64, and the bits given as (position, FNV hash of the row).
fn long(golden: Golden, chunk: usize) -> Vec<(usize, u64)> {
    let (ids, positions) = golden.long();
    let mut engine = golden.engine(|o| {
        o.exact = true;
        o.batch = ids.len();
    });
    let wanted = |position| positions.iter().any(|p| p.position == position);
    let mut rows = Vec::new();
    let sink = &mut |position: usize, logits: &[f32]| {
        let reference = positions.iter().find(|p| p.position == position).expect("wanted");
        let found = worst(logits, &reference.top);
        let name = golden.name;
        assert!(found <= ALLOWED, "{name} position {position}, chunks of {chunk}: {found:e}");
        let bytes = logits.iter().flat_map(|l| l.to_bits().to_le_bytes());
        let hash = bytes.fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
        });
        rows.push((position, hash));
    };
    engine.score_chunked(&ids, chunk, &wanted, sink).expect("scores");
    assert_eq!(rows.len(), positions.len());
    rows
}

fn long_in_all_chunks(golden: Golden) {
    let whole = long(golden, 1300);
    for chunk in [500, 32, 7, 1] {
        assert!(long(golden, chunk) == whole, "{}: chunks of {chunk} differ", golden.name);
    }
}

#[test]
fn long_text_of_smollm2() {
    long_in_all_chunks(SMOLLM2);
}

#[test]
fn long_text_of_gemma3() {
    long_in_all_chunks(GEMMA3);
}
