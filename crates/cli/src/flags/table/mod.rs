//! The rows, by theme.

mod grammar;
mod model;
mod output;
mod prompt;
mod sampling;
mod task;

use super::{Flag, Verb};

pub use grammar::*;
pub use model::*;
pub use output::*;
pub use prompt::*;
pub use sampling::*;
pub use task::*;

/// Makes a static of every row, and the list of them.
macro_rules! flags {
    ($list:ident: $($id:ident = $row:expr;)*) => {
        $(#[doc = concat!("The row ", stringify!($id), ".")] pub static $id: Flag = $row;)*
        /// All rows of this theme.
        pub static $list: &[&Flag] = &[$(&$id),*];
    };
}
use flags;

/// Commands that load a model and compute.
const COMPUTE: &[Verb] = &[
    Verb::Run,
    Verb::Chat,
    Verb::Score,
    Verb::Perplexity,
    Verb::Inspect,
    Verb::Bench,
    Verb::Explain,
];
/// Commands that open a model file.
const OPEN: &[Verb] = &[
    Verb::Run,
    Verb::Chat,
    Verb::Score,
    Verb::Perplexity,
    Verb::Tokenize,
    Verb::Inspect,
    Verb::Bench,
    Verb::Explain,
    Verb::SelfTest,
];
/// Commands that may look for models.
const FIND: &[Verb] = &[
    Verb::Run,
    Verb::Chat,
    Verb::Score,
    Verb::Perplexity,
    Verb::Tokenize,
    Verb::Inspect,
    Verb::Bench,
    Verb::Explain,
    Verb::SelfTest,
    Verb::Pull,
    Verb::List,
    Verb::Rm,
];
/// Commands that write text.
const WRITE: &[Verb] = &[Verb::Run, Verb::Chat];
/// Every command that can be told anything.
const ALL: &[Verb] = &[
    Verb::Run,
    Verb::Chat,
    Verb::Score,
    Verb::Perplexity,
    Verb::Tokenize,
    Verb::Inspect,
    Verb::Bench,
    Verb::Explain,
    Verb::SelfTest,
    Verb::Trace,
    Verb::Devices,
    Verb::Pull,
    Verb::List,
    Verb::Rm,
    Verb::Synth,
    Verb::Config,
    Verb::Version,
];

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static Flag> {
    let themes = [TASK_ROWS, MODEL_ROWS, PROMPT_ROWS, SAMPLING_ROWS, GRAMMAR_ROWS, OUTPUT_ROWS];
    themes.into_iter().flatten().copied()
}

/// The rows of a command.
pub fn rows_of(verb: Verb) -> impl Iterator<Item = &'static Flag> {
    rows().filter(move |flag| flag.applies_to(verb))
}
