//! Whole tiny models of every architecture: prompts whose lengths lie round the tiles of the
//! kernels, at once and in pieces, and tokens decoded after them.

use minfer_backend_metal::Staging;
use minfer_conformance::TinyRows;
use minfer_plan::Buckets;
use minfer_quant::{KvType, Quant};

use crate::harness::{ARCHITECTURES, DECODED, LONGEST, Yardstick, device, tiny};

/// Round 8 rows (where the kernels change), 32 (a tile, a page), 64, 96 and 128; and a prime.
const LENGTHS: [usize; 16] = [1, 8, 9, 31, 32, 33, 63, 64, 65, 96, 97, 98, 127, 128, 129, LONGEST];

/// What float sums in another order come to after a few layers, as a share of a position's largest
/// logit; ten times what is found.
const ROUNDING: f32 = 2e-5;

#[test]
fn prompts_at_once_and_tokens_after_them() {
    for architecture in ARCHITECTURES {
        let yardstick =
            Yardstick::new(tiny(architecture, Quant::Q8_0), LONGEST + DECODED, KvType::F32);
        let mut model = yardstick.model(device(Staging::Full));
        for length in LENGTHS {
            let tokens = &yardstick.tokens[..length + DECODED];
            let found = model.prompt(tokens, &[length, 1]).unwrap();
            yardstick.hold(0, &found, ROUNDING, &format!("{architecture}, {length} tokens"));
        }
    }
}

#[test]
fn prompts_in_pieces_cut_where_tiles_are_not() {
    let cuts: [&[usize]; 7] = [
        &[31, 1, 33, 2],
        &[8, 9],
        &[64, 1, 65],
        &[7, 57, 33, 1, 95],
        &[96, 2, 97],
        &[127, 1, 2, 63],
        &[17, 16, 15, 8, 3, 1],
    ];
    for architecture in ARCHITECTURES {
        let yardstick = Yardstick::new(tiny(architecture, Quant::Q4_K), LONGEST, KvType::F32);
        let mut model = yardstick.model(device(Staging::Full));
        for cut in cuts {
            let found = model.prompt(&yardstick.tokens, cut).unwrap();
            yardstick.hold(0, &found, ROUNDING, &format!("{architecture} in pieces of {cut:?}"));
        }
    }
}

/// As an engine runs them: programs for more rows than come, logits of the last rows alone.
#[test]
fn prompts_in_the_buckets_of_an_engine() {
    for architecture in ARCHITECTURES {
        let yardstick =
            Yardstick::new(tiny(architecture, Quant::F16), LONGEST + DECODED, KvType::F32);
        let model = yardstick.model(device(Staging::Full));
        let mut model = model.in_buckets(Buckets::new(512));
        for length in LENGTHS {
            for (position, rows) in [(0, length), (length, 1), (length + 1, 2)] {
                let tokens = &yardstick.tokens[position..position + rows];
                let outputs = rows.min(3);
                let step = [TinyRows { sequence: 0, position, tokens, outputs }];
                let found = model.step(&step).unwrap();
                let first = position + rows - outputs;
                let what = format!("{architecture}, {rows} tokens from {position} on");
                yardstick.hold(first, &found, ROUNDING, &what);
            }
        }
    }
}

/// Partitions of 512 positions: a deep cache is shared out, and put together again.
#[test]
fn contexts_past_the_edges_of_partitions() {
    for (architecture, start) in [("llama", 509), ("gemma3", 510), ("qwen3", 1021)] {
        let yardstick = Yardstick::new(tiny(architecture, Quant::Q8_0), start + 6, KvType::F32);
        let mut model = yardstick.model(device(Staging::Full));
        // All of the text; then its last tokens anew in other pieces.
        let found = model.prompt(&yardstick.tokens, &[start, 1]).unwrap();
        yardstick.hold(0, &found, ROUNDING, architecture);
        for rows in [2, 3, 6] {
            let tokens = &yardstick.tokens[start..start + rows];
            let step = [TinyRows { sequence: 0, position: start, tokens, outputs: rows }];
            let what = format!("{architecture}, {rows} tokens from {start} on");
            yardstick.hold(start, &model.step(&step).unwrap(), ROUNDING, &what);
        }
    }
}
