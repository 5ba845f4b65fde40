//! llama.cpp's flags that have no counterpart here: what they ask for happens anyway, or cannot be
//! had. Either is said, so that a command line from there keeps its meaning.

use super::Verb;

/// A flag of another program.
#[derive(Debug)]
pub struct Foreign {
    /// Every way to write it.
    pub names: &'static [&'static str],
    /// The values that it may have behind it; none where it is a switch.
    pub values: &'static [&'static str],
    /// What becomes of it.
    pub answer: Answer,
    /// The commands that it is met in.
    verbs: &'static [Verb],
}

/// What becomes of a flag, and why.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// It is passed over.
    Needless(&'static str),
    /// It is refused.
    Refused(&'static str),
}
use Answer::{Needless, Refused};

const RUN: &[Verb] = &[Verb::Run];
const CHAT: &[Verb] = &[Verb::Chat];
const BENCH: &[Verb] = &[Verb::Bench];
const WRITE: &[Verb] = &[Verb::Run, Verb::Chat];
const COMPUTE: &[Verb] = &[Verb::Run, Verb::Chat, Verb::Score, Verb::Perplexity, Verb::Bench];

const SWITCH: &[&str] = &[];
const WORDS: &[&str] = &["on", "off", "auto", "0", "1"];

const fn foreign(
    verbs: &'static [Verb],
    names: &'static [&'static str],
    values: &'static [&'static str],
    answer: Answer,
) -> Foreign {
    Foreign { names, values, answer, verbs }
}

static FLAGS: &[Foreign] = &[
    foreign(
        COMPUTE,
        &["-fa", "--flash-attn"],
        WORDS,
        Needless("attention has one way here, which never holds a whole matrix of scores"),
    ),
    foreign(WRITE, &["--jinja"], SWITCH, Needless("chat templates are always read as Jinja")),
    foreign(
        WRITE,
        &["--no-jinja"],
        SWITCH,
        Refused("chat templates are always read as Jinja; `minfer run --raw` goes without one"),
    ),
    foreign(
        RUN,
        &["-cnv", "--conversation"],
        SWITCH,
        Needless("the chat template is used anyway, for one turn; `minfer chat` has many"),
    ),
    foreign(RUN, &["-st", "--single-turn"], SWITCH, Needless("`run` ends after one answer anyway")),
    foreign(
        RUN,
        &["-i", "--interactive", "-if", "--interactive-first"],
        SWITCH,
        Refused("`run` answers one prompt; `minfer chat` talks"),
    ),
    foreign(
        CHAT,
        &["-cnv", "--conversation", "-i", "--interactive", "-if", "--interactive-first"],
        SWITCH,
        Needless("`chat` is always a conversation"),
    ),
    foreign(
        CHAT,
        &["-no-cnv", "--no-conversation", "--raw"],
        SWITCH,
        Refused("`chat` is always a conversation; `minfer run --raw` continues a text"),
    ),
    foreign(
        CHAT,
        &["-mli", "--multiline-input"],
        SWITCH,
        Needless("a line that ends in a backslash goes on in the next one"),
    ),
    foreign(
        WRITE,
        &["--no-display-prompt"],
        SWITCH,
        Needless("the prompt is never printed with the answer"),
    ),
    foreign(
        WRITE,
        &["--display-prompt"],
        SWITCH,
        Refused("the prompt is never printed with the answer; `run --render` prints it"),
    ),
    foreign(
        COMPUTE,
        &["--log-disable"],
        SWITCH,
        Needless("nothing is logged unless -v or --log asks for it"),
    ),
    foreign(WRITE, &["--simple-io"], SWITCH, Needless("output is plain where it is no terminal")),
    foreign(COMPUTE, &["--no-warmup"], SWITCH, Needless("only `bench` warms up, and always does")),
    foreign(
        WRITE,
        &["--no-context-shift"],
        SWITCH,
        Needless("an answer ends when the context is full"),
    ),
    foreign(
        WRITE,
        &["--context-shift"],
        SWITCH,
        Refused("an answer ends when the context is full; -c makes the context longer"),
    ),
    foreign(
        BENCH,
        &["-mmp"],
        &["0", "1"],
        Refused("--no-mmap reads the file into memory; without it the file is mapped"),
    ),
];

/// The flag of that name that a command meets.
pub fn find(verb: Verb, name: &str) -> Option<&'static Foreign> {
    FLAGS.iter().find(|flag| flag.verbs.contains(&verb) && flag.names.contains(&name))
}
