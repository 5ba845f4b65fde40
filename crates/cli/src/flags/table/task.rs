//! What one command alone does.

use super::flags;
use crate::flags::{Flag, Kind, Theme, Verb};

const BENCH: (Theme, &[Verb]) = (Theme::Task, &[Verb::Bench]);
const INSPECT: (Theme, &[Verb]) = (Theme::Task, &[Verb::Inspect]);
const SELF_TEST: (Theme, &[Verb]) = (Theme::Task, &[Verb::SelfTest]);
const PERPLEXITY: (Theme, &[Verb]) = (Theme::Task, &[Verb::Perplexity]);
const SYNTH: (Theme, &[Verb]) = (Theme::Task, &[Verb::Synth]);
const TEXT: (Theme, &[Verb]) = (Theme::Task, &[Verb::Tokenize, Verb::Score]);

flags! { TASK_ROWS:
    BOS = Flag::new("bos", TEXT, Kind::Switch("no-bos"), "true",
        "Begin with the begin token where the model wants one")
        .off("Do not begin with the begin token");
    SPECIAL = Flag::new("parse-special", TEXT, Kind::Switch("no-special"), "true",
        "Read control tokens that are written in the text")
        .off("Take control tokens that are written in the text as plain text");
    TOP = Flag::new("top", (Theme::Task, &[Verb::Score]), Kind::Integer(0, 1000), "10",
        "Most probable next tokens to show");
    CHUNKS = Flag::new("chunks", PERPLEXITY, Kind::Integer(0, 1 << 30), "0",
        "Chunks to compute at most; 0 for all");
    KL = Flag::new("kl", PERPLEXITY, Kind::Switch("no-kl"), "false",
        "Compare the exact path with the normal one: KL divergence and equal top tokens");

    STAGE = Flag::new("stage", INSPECT,
        Kind::Choice(&["file", "model", "graph", "program", "launches"]), "file",
        "What to show: the file, or a stage on its way to the device");
    STEP_TOKENS = Flag::new("tokens", (Theme::Task, &[Verb::Explain]), Kind::Integer(1, 8192), "1",
        "Tokens of the step: 1 for generation, more for prompts");
    DOT = Flag::new("dot", INSPECT, Kind::Switch("no-dot"), "false",
        "Print the graph for Graphviz");

    BENCH_PROMPT = Flag::new("n-prompt", BENCH, Kind::Text("LIST"), "512",
        "Lengths of prompts, parted by commas; 0 for none").short('p');
    BENCH_GEN = Flag::new("n-gen", BENCH, Kind::Text("LIST"), "128",
        "Tokens to write, parted by commas; 0 for none").short('n');
    BENCH_DEPTH = Flag::new("n-depth", BENCH, Kind::Text("LIST"), "0",
        "Positions that are there before, parted by commas").short('d');
    BENCH_BOTH = Flag::new("prompt-gen", BENCH, Kind::List("P,N"), "",
        "Measure a prompt and a generation as one, such as 512,128; may be repeated")
        .dashed(&["pg"]);
    THREADS_LIST = Flag::new("threads-list", BENCH, Kind::Text("LIST"), "",
        "Numbers of threads to measure with, parted by commas; -t 1,2 is as good");
    REPETITIONS = Flag::new("repetitions", BENCH, Kind::Integer(1, 1000), "5",
        "Measurements of each test, after one warm-up").short('r');
    OUTPUT_FORMAT = Flag::new("output", BENCH, Kind::Choice(&["md", "csv", "json", "jsonl"]), "md",
        "Form of the table").short('o');

    REPORT = Flag::new("report", SELF_TEST, Kind::Path("FILE"), "minfer-self-test.json",
        "Where the results go");
    PARTS = Flag::new("parts", SELF_TEST, Kind::Text("LIST"), "all",
        "Parts to run, parted by commas: kernels, cases, models, speed, variants");
    FILTER = Flag::new("filter", SELF_TEST, Kind::Text("TEXT"), "",
        "Only cases that have this in their name");
    EVERY = Flag::new("every", SELF_TEST, Kind::Integer(1, 1 << 20), "1",
        "Only every so many cases");
    TOLERANCE = Flag::new("tolerance", (Theme::Task, &[Verb::Trace]), Kind::Number(0.0, 1e30),
        "0.001", "How far values may differ, as a share of a node's largest value")
        .more("Devices that quantize activations differ by some 0.01; --exact keeps them from it.");

    MEASURE = Flag::new("measure", (Theme::Task, &[Verb::Devices]),
        Kind::Switch("no-measure"), "false",
        "Measure how fast memory can be read, and keep the result for later reports");

    QUANT = Flag::new("quant", SYNTH, Kind::Text("MIX"), "q4_k_m",
        "Formats of the weights: f32 f16 bf16 q4_0 q4_1 q5_0 q8_0 q4_k_m q6_k").short('q');
    OUT_FILE = Flag::new("out", SYNTH, Kind::Path("FILE"), "",
        "Where to write; else SHAPE-MIX.gguf").short('o');
    FORCE = Flag::new("force", SYNTH, Kind::Switch("no-force"), "false",
        "Write over a file that is there");
    TOKENIZER_FROM = Flag::new("tokenizer-from", SYNTH, Kind::Path("FILE"), "",
        "Take the vocabulary from this GGUF file; else a vocabulary of bytes is made");
    LAYERS = Flag::new("layers", SYNTH, Kind::Integer(0, 1024), "0",
        "Layers; 0 for as many as the shape has").alias(&["n-layer"]);
    YES = Flag::new("yes", (Theme::Task, &[Verb::Rm]), Kind::Switch("no-yes"), "false",
        "Do not ask").short('y');
}
