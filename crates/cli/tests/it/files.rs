//! Bad files, and models that `synth` makes, through the commands that look at them.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::shell::Shell;

#[test]
fn files_that_are_no_models_are_refused_by_name() {
    let shell = Shell::new();
    shell.write("text.gguf", "This is no model, however long it is.");
    shell.write("short.gguf", "GGUF");
    shell.bad(&["run", "-m", "none.gguf", "hi"], 2, &["none.gguf", "no such file"]);
    shell.bad(&["run", "-m", "text.gguf", "hi"], 1, &["text.gguf", "GGUF"]);
    shell.bad(&["inspect", "short.gguf"], 1, &["short.gguf"]);
    shell.bad(&["inspect", "."], 2, &["a folder"]);
    shell.bad(&["run", "-m", "nomodel", "hi"], 2, &["\"nomodel\"", "smollm2"]);
    shell.bad(&["run", "-m", "a/b/c", "hi"], 2, &["user/repo"]);
    shell.bad(&["run", "-hf", "user", "hi"], 2, &["user/repo"]);
    shell.bad(&["run", "--offline", "-m", "user/repo", "hi"], 1, &["user/repo", "--offline"]);
    shell.bad(&["run", "--device", "cuda", "-m", "text.gguf", "hi"], 2, &["--device cuda"]);
}

fn synthetic(shell: &Shell, shape: &str, quant: &str) -> String {
    let path = shell.good(&["synth", shape, "-q", quant, "-o", &format!("{shape}.gguf")]);
    path.trim().to_owned()
}

#[test]
fn a_synthetic_model_is_inspected_explained_and_run() {
    let shell = Shell::new();
    let model = synthetic(&shell, "tiny-llama", "q4_k_m");
    shell.bad(&["run", "-m", &model, ""], 2, &["the prompt is empty"]);
    shell.bad(&["run", "-m", "/dev/null", "hi"], 2, &["found a device"]);
    let file = shell.json(&["inspect", &model, "--json"]);
    assert_eq!(file["metadata"]["general.architecture"], "llama");
    let tensors = file["tensors"].as_array().unwrap();
    let find = |name: &str| tensors.iter().find(|tensor| tensor["name"] == name).unwrap();
    assert_eq!(find("output.weight")["type"], "q6_k");
    assert_eq!(find("blk.0.attn_q.weight")["type"], "q4_k");
    let text = shell.good(&["inspect", &model]);
    assert!(text.contains("general.architecture = llama") && text.contains("blk.1.ffn_up.weight"));

    let read = shell.json(&["inspect", &model, "--stage", "model", "--json"]);
    assert_eq!((&read["layers"], &read["epsilon"]), (&2.into(), &1e-5.into()));
    for (stage, word) in [("graph", "rms_norm"), ("program", "split 0"), ("launches", "why:")] {
        let text = shell.good(&["inspect", &model, "--stage", stage]);
        assert!(text.starts_with("# steps of 1 tokens") && text.contains(word), "{stage}: {text}");
    }
    let dot = shell.good(&["inspect", &model, "--stage", "graph", "--dot"]);
    assert!(dot.starts_with("digraph"), "{dot}");
    let graphs = shell.json(&["inspect", &model, "--stage", "graph", "--json"]);
    assert!(graphs.as_array().unwrap().len() > 1);
    shell.bad(&["inspect", &model, "--dot"], 2, &["--stage graph"]);

    let explained = shell.json(&["explain", &model, "--json"]);
    let launches = explained["launches"].as_array().unwrap();
    let sum = |name: &str| launches.iter().map(|line| line[name].as_u64().unwrap()).sum::<u64>();
    assert!(sum("weight_bytes") > 0 && sum("launches") >= launches.len() as u64);
    let text = shell.good(&["explain", &model, "--tokens", "64"]);
    assert!(text.starts_with("a step of 64 tokens") && text.contains("attention"), "{text}");

    let answer = shell.json(&["run", "-m", &model, "--json", "-n", "4", "--ignore-eos", "hello"]);
    assert_eq!(answer["tokens"].as_array().unwrap().len(), 4);
}

#[test]
fn a_model_is_described_in_words() {
    let shell = Shell::new();
    let model = synthetic(&shell, "tiny-llama", "q4_k_m");
    let text = shell.good(&["inspect", &model, "--stage", "model"]);
    let expected = [
        "architecture  llama",
        "layers        2",
        "width         256, inside the feed-forward 768",
        "heads         4 of queries, 2 of keys and values, 64 wide",
        "context       4096 trained, 4096 here",
        "vocabulary    512 tokens",
        "norm          RMS, epsilon 1e-5",
        "rope          64 of 64 elements of a head, base 500000, not stretched",
        "window        none",
        "experts       none",
        "placement     all 2 layers on cpu",
        "  blk.1.attn_v.weight                      q6_k    128 × 256",
    ];
    for line in expected {
        assert!(text.lines().any(|found| found == line), "no {line:?} in {text}");
    }
    assert!(text.contains("\nmemory        cpu (") && text.contains("\nformats       q4_k 1"));
    // What other architectures have more of.
    for (shape, line) in [
        ("tiny-qwen3moe", "experts       8 in a layer, 2 for a token, "),
        ("tiny-gemma3", "positions, rope base 10000; none in every "),
    ] {
        let model = synthetic(&shell, shape, "q4_0");
        let text = shell.good(&["inspect", &model, "--stage", "model"]);
        assert!(text.contains(line) && !text.contains('{'), "{text}");
    }
}

#[test]
fn synth_says_the_size_before_it_writes() {
    let shell = Shell::new();
    let ended = shell.run(&["synth", "tiny-llama", "-o", "m.gguf"]);
    let first = ended.stderr.lines().next().unwrap();
    assert_eq!(first, "writing 1.1 MB of random weights to m.gguf");
    // A place that cannot be written to is named, and nothing is left of the attempt.
    shell.bad(&["synth", "tiny-llama", "-o", "none/m.gguf"], 1, &["creating none/m.gguf"]);
    assert!(!shell.path("none").exists());
}

#[test]
fn an_interrupted_synth_leaves_nothing() {
    let shell = Shell::new();
    let mut child = shell.command().args(["synth", "qwen2-1.5b", "-o", "m.gguf"]).spawn().unwrap();
    let files = || std::fs::read_dir(shell.home.path()).unwrap().count();
    let start = Instant::now();
    while files() == 0 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(files(), 1, "the file that is being written");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(files(), 0);
}

#[test]
fn devices_are_listed_without_gaps() {
    let shell = Shell::new();
    let text = shell.good(&["devices"]);
    assert!(text.contains("reference (canonical), ") && !text.contains("()"), "{text}");
    assert!(text.contains("`minfer devices --measure`") && text.contains("`bench`"), "{text}");
    shell.write(".cache/minfer/bytes-per-second", "12300000000");
    assert!(shell.good(&["devices"]).contains("memory is read at 12.3 GB/s"));
}

#[test]
fn synthetic_models_of_other_architectures_run() {
    let shell = Shell::new();
    for shape in ["tiny-qwen2", "tiny-qwen3", "tiny-qwen3moe", "tiny-gemma3"] {
        let model = synthetic(&shell, shape, "q4_0");
        let arguments = ["run", "-m", &model, "--json", "-n", "2", "--ignore-eos", "hello"];
        let answer = shell.json(&arguments);
        assert_eq!(answer["tokens"].as_array().unwrap().len(), 2, "{shape}");
    }
    let names = shell.good(&["synth"]);
    assert!(names.contains("qwen3-30b-a3b\n") && names.contains("gemma3-1b\n"), "{names}");
    let left: Vec<_> = std::fs::read_dir(shell.home.path()).unwrap().flatten().collect();
    assert!(left.iter().all(|entry| !entry.path().to_string_lossy().contains("incomplete")));
}

#[test]
fn perplexity_scores_second_halves_and_compares_with_the_exact_path() {
    let shell = Shell::new();
    let model = synthetic(&shell, "tiny-llama", "q4_0");
    shell.write("text.txt", &"some-words,-and-some-more-of-them.-".repeat(8));
    let arguments = ["perplexity", "-m", &model, "-f", "text.txt", "-c", "64", "--json"];
    let plain = shell.json(&arguments);
    let chunks = plain["chunks"].as_array().unwrap();
    // A byte a token: 280 tokens are four chunks of 64, of which 31 predictions each count.
    assert_eq!((chunks.len(), plain["tokens"].as_u64().unwrap()), (4, 4 * 31));
    let mean: f64 = chunks.iter().map(|chunk| chunk["nll"].as_f64().unwrap()).sum::<f64>() / 4.0;
    let ppl = plain["ppl"].as_f64().unwrap();
    assert!((mean.exp() / ppl - 1.0).abs() < 1e-9, "{plain}");
    assert_eq!(chunks[3]["ppl"], plain["ppl"]);

    let compared = shell.json(&[&arguments[..], &["--kl", "--chunks", "2"]].concat());
    let kl: &Value = &compared["kl"];
    let at = |name: &str| kl[name].as_f64().unwrap();
    assert_eq!(kl["rows"], 64);
    assert!(at("mean") > 0.0 && at("median") <= at("p90") && at("p99") <= at("max"), "{kl}");
    assert!((0.0..=1.0).contains(&at("same_top")));
    let exact = shell.json(&[&arguments[..], &["--exact", "--chunks", "2"]].concat());
    let same = exact["ppl"].as_f64().unwrap() / at("exact_ppl");
    assert!((same - 1.0).abs() < 1e-9, "{same}");
    let itself = shell.json(&[&arguments[..], &["--exact", "--kl", "--chunks", "1"]].concat());
    assert_eq!(itself["kl"]["max"], 0.0);
    assert_eq!(itself["kl"]["same_top"], 1.0);
    shell.bad(&["perplexity", "-m", &model, "-f", "text.txt"], 1, &["512", "280"]);
}
