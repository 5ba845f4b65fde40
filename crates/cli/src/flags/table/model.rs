//! Which model, how its file is read, where it runs.

use super::{ALL, COMPUTE, FIND, OPEN, WRITE, flags};
use crate::flags::{Flag, Kind, Theme, Verb};

const KV: &[&str] = &["f32", "f16", "bf16", "q8_0"];
const MODEL_THEME: Theme = Theme::Model;
const DEVICE: (Theme, &[Verb]) = (Theme::Device, COMPUTE);
const LENGTH: (Theme, &[Verb]) = (Theme::Length, COMPUTE);

flags! { MODEL_ROWS:
    MODEL = Flag::new("model", (MODEL_THEME, OPEN), Kind::Text("MODEL"), "smollm2",
        "Model file, catalog name, or user/repo:quant")
        .short('m').llama_env("LLAMA_ARG_MODEL")
        .more("A path is taken as it is. Any other word is looked for among the models at hand \
               (Hugging Face's cache, llama.cpp's, LM Studio's, Ollama's) and then fetched. \
               `minfer list` shows what is at hand. By a catalog name, `run` and `chat` take the \
               sampling and the system message that go with that name, where nothing else is \
               given; by its path, the same file runs with the defaults that are shown here and \
               the template's own system message.");
    HF_REPO = Flag::new("hf-repo", (MODEL_THEME, OPEN), Kind::Text("USER/REPO[:QUANT]"), "",
        "Model on the Hugging Face hub; fetched when it is not at hand")
        .dashed(&["hf", "hfr"]).llama_env("LLAMA_ARG_HF_REPO");
    OFFLINE = Flag::new("offline", (MODEL_THEME, FIND), Kind::Switch("no-offline"), "false",
        "Never use the network").llama_env("LLAMA_ARG_OFFLINE");
    HUB = Flag::new("hub", (MODEL_THEME, FIND), Kind::Text("URL"), "",
        "The hub's address; else HF_ENDPOINT, else https://huggingface.co");
    CACHE_DIR = Flag::new("cache-dir", (MODEL_THEME, FIND), Kind::Path("DIR"), "",
        "Folder of fetched models; else HF_HUB_CACHE, HF_HOME/hub, ~/.cache/huggingface/hub");
    TOKENIZER_PRE = Flag::new("tokenizer-pre", (MODEL_THEME, OPEN), Kind::Text("RULE"), "",
        "Word-splitting rule to use in place of the file's");
    MMAP = Flag::new("mmap", (MODEL_THEME, OPEN), Kind::Switch("no-mmap"), "true",
        "Map the file instead of reading it into memory").llama_env("LLAMA_ARG_MMAP")
        .off("Read the file into memory instead of mapping it");
    MLOCK = Flag::new("mlock", (MODEL_THEME, OPEN), Kind::Switch("no-mlock"), "false",
        "Keep the file's pages in memory").llama_env("LLAMA_ARG_MLOCK");

    DEVICE_NAME = Flag::new("device", (Theme::Device, TESTED),
        Kind::Choice(&["auto", "cpu", "reference", "reference-f64", "metal", "metal-sim", "cuda"]),
        "auto", "Where the model runs; auto is metal on a Mac, else cpu")
        .dashed(&["dev"]).llama_env("LLAMA_ARG_DEVICE")
        .more("`reference` is the executable definition: slow, for comparisons. A device \
               that is named and not there is an error: work never moves to another one \
               silently. `metal` is in builds for macOS, `metal-sim`, a simulated Apple GPU for \
               tests, in those of `cargo xtask sim`; cuda is not in this version.");
    GPU_LAYERS = Flag::new("gpu-layers", DEVICE, Kind::Text("N|all"), "all",
        "Layers on the GPU, the last ones first; without a GPU the CPU runs all")
        .alias(&["n-gpu-layers"]).dashed(&["ngl"]).llama_env("LLAMA_ARG_N_GPU_LAYERS");
    STAGING = Flag::new("staging", DEVICE, Kind::Choice(&["half", "f32"]), "half",
        "What products of many rows round their operands to on an Apple GPU")
        .more("`half` takes half the threadgroup memory; sums are f32 either way. --exact takes \
               f32.");
    GPU_TIMEOUT = Flag::new("gpu-timeout", DEVICE, Kind::Number(0.001, 86400.0), "10",
        "Seconds that a step may take on the GPU before it is given up")
        .more("The request then fails, with the last launches; the next one gets the GPU anew. \
               metal-sim has sixty times as long.");
    GPU_OVERCOMMIT = Flag::new("gpu-overcommit", DEVICE, Kind::Switch("no-gpu-overcommit"), "false",
        "Give the GPU more than 90 % of its working set");
    WEIGHT_COPY = Flag::new("weight-copy", DEVICE, Kind::Switch("no-weight-copy"), "false",
        "Copy the weights to memory of the GPU's own instead of reading the mapped file");
    WARM_UP = Flag::new("warm-up", DEVICE, Kind::Switch("no-warm-up"), "true",
        "Read the weights once before the first prompt, so that it does not wait for the disk")
        .off("Leave the first prompt to wait for the weights that are not in memory yet");
    METALLIB = Flag::new("metallib", (Theme::Device, TESTED), Kind::Path("FILE"), "",
        "Take the Apple GPU's kernels from a precompiled library")
        .more("The file must have every kernel that the model needs. A build for macOS made where \
               Xcode is leaves one in the folder of its build script, \
               target/…/build/minfer-backend-metal-…/out/minfer.metallib, and has it built in.");
    METAL_CAPTURE = Flag::new("metal-capture", (Theme::Device, CAPTURED), Kind::Path("FILE"), "",
        "Write a trace of the first request on the Apple GPU, for Xcode")
        .more("Name it *.gputrace. It has every launch with its buffers, weights among them, so \
               keep the request short: -n 2. macOS takes traces of programs that are started with \
               METAL_CAPTURE_ENABLED=1 in the environment. A file that is there is not replaced.");
    SIM_CHECKED = Flag::new("sim-checked", DEVICE, Kind::Switch("no-sim-checked"), "false",
        "Watch every access and barrier of metal-sim's kernels: slow");
    THREADS = Flag::new("threads", (Theme::Device, THREADED), Kind::Integer(0, 1024), "0",
        "Threads of the CPU; 0 for one per processor")
        .short('t').llama_env("LLAMA_ARG_THREADS");
    TUNE = Flag::new("tune", (Theme::Device, TESTED), Kind::Path("FILE"), "",
        "Take the device's choices between kernels from a file that self-test wrote");
    CACHE_TYPE_K = Flag::new("cache-type-k", DEVICE, Kind::Choice(KV), "f16",
        "Type of cached keys").dashed(&["ctk"]).llama_env("LLAMA_ARG_CACHE_TYPE_K");
    CACHE_TYPE_V = Flag::new("cache-type-v", DEVICE, Kind::Choice(KV), "f16",
        "Type of cached values").dashed(&["ctv"]).llama_env("LLAMA_ARG_CACHE_TYPE_V");
    DETERMINISTIC = Flag::new("deterministic", DEVICE, Kind::Switch("no-deterministic"), "false",
        "Give a request the same bits whoever else is served; the CPU always does")
        .more("On a GPU, prompts and chosen tokens then come in steps of their own, each with the \
               same kernels however many rows there are. That costs a second reading of the \
               weights where both are at hand, one for every eight sequences that decode, and \
               the prefix cache of text that was generated.");
    EXACT = Flag::new("exact", DEVICE, Kind::Switch("no-exact"), "false",
        "Keep activations and the cache in f32: slow, for comparisons")
        .more("Weights are decoded to f32, activations are not quantized, keys and values are \
               cached in f32.");
    FUSIONS = Flag::new("fusions", DEVICE, Kind::Text("all|none|LIST"), "all",
        "Fused ops that planning may use, by name, parted by commas");
    PREFIX_CACHE = Flag::new("prefix-cache", (Theme::Device, WRITE),
        Kind::Switch("no-prefix-cache"), "true",
        "Keep computed text for prompts that start alike")
        .off("Forget what was computed for a prompt when its answer ends");

    CTX_SIZE = Flag::new("ctx-size", LENGTH, Kind::Integer(0, 16 << 20), "0",
        "Positions of the longest text; 0 for the trained context, 8192 at most")
        .short('c').llama_env("LLAMA_ARG_CTX_SIZE")
        .more("`perplexity` cuts its text into chunks of this length, 512 when it is not given.");
    BATCH_SIZE = Flag::new("batch-size", LENGTH, Kind::Integer(1, 8192), "512",
        "Tokens of one step at most").short('b').llama_env("LLAMA_ARG_BATCH");
    UBATCH_SIZE = Flag::new("ubatch-size", LENGTH, Kind::Integer(0, 8192), "0",
        "Tokens of one text in a step at most; 0 for the batch size")
        .dashed(&["ub"]).llama_env("LLAMA_ARG_UBATCH");

    CONFIG_FILE = Flag::new("config-file", (Theme::Output, ALL), Kind::Path("FILE"), "",
        "Configuration file; else ~/.config/minfer/config.toml");
}

const TESTED: &[Verb] = &[
    Verb::Run,
    Verb::Chat,
    Verb::Score,
    Verb::Perplexity,
    Verb::Inspect,
    Verb::Bench,
    Verb::Explain,
    Verb::SelfTest,
];
const CAPTURED: &[Verb] = &[Verb::Run, Verb::Chat, Verb::Score];
const THREADED: &[Verb] = &[
    Verb::Run,
    Verb::Chat,
    Verb::Score,
    Verb::Perplexity,
    Verb::Inspect,
    Verb::Bench,
    Verb::Explain,
    Verb::SelfTest,
    Verb::Devices,
    Verb::Synth,
];
