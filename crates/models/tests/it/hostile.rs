//! Files that open as GGUF and are no models: a typed error within a second and 64 MiB, in a
//! process of its own.

use std::process::Command;
use std::time::Instant;

use minfer_models::Error;

use crate::make::Draft;

const TASK: &str = "MINFER_MODELS_TEST_CHILD";

/// Malformed files by the names under which they are known, and the error that each must give.
const FILES: [(&str, &str); 9] = [
    ("dim0", "TensorShape"),
    ("head0", "Parameter"),
    ("blocks_max", "Parameter"),
    ("blocks2", "MissingTensor"),
    ("blocks_1024", "MissingTensor"),
    ("eps_nan", "Parameter"),
    ("widest", "TensorShape"),
    ("experts_4096", "TensorShape"),
    ("vocabulary_max", "Parameter"),
];

fn file(name: &str) -> Draft {
    let llama = Draft::tiny("llama");
    match name {
        "dim0" => llama.with_dims("output.weight", &[64, 0]),
        "head0" => llama.with("attention.head_count", 0u32),
        "blocks_max" => llama.with("block_count", u32::MAX),
        // One layer more than the file has.
        "blocks2" => llama.with("block_count", 3u32),
        "blocks_1024" => llama.with("block_count", 1024u32),
        "eps_nan" => llama.with("attention.layer_norm_rms_epsilon", f32::NAN),
        // All at their limits: products must not overflow.
        "widest" => ["embedding_length", "attention.key_length", "attention.value_length"]
            .into_iter()
            .fold(llama, |draft, name| draft.with(name, 1u32 << 20))
            .with("feed_forward_length", 1u32 << 20)
            .with("attention.head_count", 1024u32)
            .with("attention.head_count_kv", 1024u32)
            .with("rope.dimension_count", 1u32 << 20)
            .with("context_length", 16u32 << 20),
        "experts_4096" => Draft::tiny("qwen3moe")
            .with("expert_count", 4096u32)
            .with("expert_used_count", 4096u32)
            .with("expert_feed_forward_length", 1u32 << 20),
        // No columns, so that no data are needed.
        "vocabulary_max" => llama.with_dims("token_embd.weight", &[0, 1 << 40]),
        other => panic!("no file {other}"),
    }
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::Metadata(_) => "Metadata",
        Error::Architecture { .. } => "Architecture",
        Error::Parameter { .. } => "Parameter",
        Error::MissingTensor { .. } => "MissingTensor",
        Error::TensorShape { .. } => "TensorShape",
        Error::TensorScale { .. } => "TensorScale",
        Error::Graph(_) => "Graph",
        Error::Quant(_) => "Quant",
        _new => "another",
    }
}

/// The child's side; without a task there is nothing to do.
#[test]
fn opens_its_file() {
    let Ok(name) = std::env::var(TASK) else { return };
    let file = file(&name).file();
    let (before, start) = (peak_bytes(), Instant::now());
    let error = minfer_models::open(&file).unwrap_err();
    let (millis, grown) = (start.elapsed().as_millis(), peak_bytes() - before);
    assert!(millis < 1000, "{millis} ms");
    assert!(grown < 64 << 20, "{grown} bytes");
    let expected = FILES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    assert_eq!(Some(kind(&error)), expected, "{error}");
}

/// The most memory that this process has had; 0 where the system does not tell.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[test]
fn malformed_files_are_refused_at_once() {
    for (name, _) in FILES {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "hostile::opens_its_file", "--nocapture", "--test-threads=1"])
            .env(TASK, name)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {} {said}", output.status);
        let passed = String::from_utf8_lossy(&output.stdout);
        assert!(passed.contains("1 passed"), "{name}: {passed}");
    }
}

/// Nothing that a file says makes a step's memory overflow: the widest models that open at all
/// have graphs and costs.
#[test]
fn what_opens_has_a_graph_with_finite_costs() {
    // Columns of one: the widest shapes that a small file can hold.
    let mut draft = Draft::tiny("llama")
        .with("embedding_length", 1u32)
        .with("block_count", 1u32)
        .with("attention.head_count", 1024u32)
        .with("attention.head_count_kv", 1u32)
        .with("feed_forward_length", 1u32 << 20)
        .with("context_length", 16u32 << 20)
        .with_dims("token_embd.weight", &[1, 288])
        .with_dims("output.weight", &[1, 288])
        .with_dims("output_norm.weight", &[1]);
    for (name, dims) in [
        ("attn_norm", &[1][..]),
        ("attn_q", &[1, 1024 * 32]),
        ("attn_k", &[1, 32]),
        ("attn_v", &[1, 32]),
        ("attn_output", &[1024 * 32, 1]),
        ("ffn_norm", &[1]),
        ("ffn_gate", &[1, 1 << 20]),
        ("ffn_up", &[1, 1 << 20]),
        ("ffn_down", &[1 << 20, 1]),
    ] {
        draft = draft.with_dims(&format!("blk.0.{name}.weight"), dims);
    }
    let model = draft.open().unwrap();
    let shape = minfer_graph::StepShape {
        tokens: 4096,
        outputs: 32,
        ..crate::make::shape(minfer_graph::Want::Argmax)
    };
    let graph = model.graph(&shape).unwrap();
    let counts = minfer_graph::Counts { tokens: 4096, outputs: 32 };
    for node in &graph.nodes {
        let (inputs, outputs) = (graph.types(&node.inputs), graph.types(&node.outputs));
        let cost = node.op.cost(&inputs, &outputs, &graph.tables, &counts);
        assert!(cost.macs < 1 << 50 && cost.activation_bytes < 1 << 40, "{}: {cost:?}", node.name);
    }
}
