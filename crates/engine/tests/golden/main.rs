//! The two reference models, held to double precision and to llama.cpp's outputs on the same files.
//!
//! The files come from `cargo xtask models`. `tests/data/*.json` holds, for each model: prompts
//! with the ten largest logits by a forward pass in float64, greedy tokens of llama.cpp on its
//! exact and on its default path, and a text of 1,300 tokens with float64's ten largest logits at
//! 19 positions round tiles, partitions and windows.

mod data;
mod exact;
mod greedy;
mod normal;
mod text;
