//! What hostile bytes reach, as plain functions: a file, a vocabulary, a template, a grammar, a
//! model up to its plan.
//!
//! A target takes any bytes and returns; a panic, a wait without end or memory without bound is a
//! finding, and so is a broken promise that it asserts. Three things call targets: the driver of
//! this package (stable Rust, seeded, no coverage), libFuzzer (`fuzz/`, a workspace of its own),
//! and the replay of the corpora in every test run. Nothing of the product uses this package.

mod choices;
mod gguf;
mod grammar;
pub mod mutate;
mod open_and_plan;
mod outcome;
pub mod seeds;
mod template;
mod tokenizer;

pub use gguf::gguf;
pub use grammar::grammar;
pub use open_and_plan::open_and_plan;
pub use outcome::Outcome;
pub use template::template;
pub use tokenizer::tokenizer;

/// A function under test and what belongs to it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, that of its folder in `fuzz/corpus` too.
    pub name: &'static str,
    /// The function.
    pub run: fn(&[u8]) -> Outcome,
    /// Texts that a random change would hardly hit on.
    pub dictionary: &'static [&'static str],
    /// Makes the inputs to start from, each with a name.
    pub seeds: fn() -> Vec<(String, Vec<u8>)>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "gguf", run: gguf, dictionary: gguf::DICTIONARY, seeds: seeds::gguf },
    Target {
        name: "tokenizer",
        run: tokenizer,
        dictionary: tokenizer::DICTIONARY,
        seeds: seeds::tokenizer,
    },
    Target {
        name: "template",
        run: template,
        dictionary: template::DICTIONARY,
        seeds: seeds::template,
    },
    Target {
        name: "grammar",
        run: grammar,
        dictionary: grammar::DICTIONARY,
        seeds: seeds::grammar,
    },
    Target {
        name: "open_and_plan",
        run: open_and_plan,
        dictionary: open_and_plan::DICTIONARY,
        seeds: seeds::open_and_plan,
    },
];
