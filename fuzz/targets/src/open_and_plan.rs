//! A file up to its plan: open, read as a model, write its graphs, plan them for the reference and
//! for processors. Nothing is run.

use minfer_backend_cpu::{CpuTarget, Isa};
use minfer_gguf::{File, Writer};
use minfer_graph::{KvTypes, StepKind, StepShape, Want};
use minfer_models::arch::ARCHITECTURES;
use minfer_models::{Blueprint, Experts, Scaling, TensorShape, Window};
use minfer_plan::{Device as _, Options, Placement, Planned, Target, TargetId, work_capacity};
use minfer_quant::{KvType, Quant};
use minfer_reference::{Mode, Reference};

use crate::Outcome;
use crate::choices::Choices;

pub(crate) const DICTIONARY: &[&str] = &[
    "llama",
    "qwen2",
    "qwen3",
    "qwen3moe",
    "gemma3",
    "block_count",
    "context_length",
    "embedding_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scaling.type",
    "rope.scaling.factor",
    "yarn",
    "linear",
    "expert_count",
    "token_embd.weight",
    "output.weight",
    "rope_freqs.weight",
    "blk.0.",
];

/// Room for tensor data behind a head: what a mutated table may point to.
const DATA_BYTES: usize = 1 << 20;

/// First byte of an input that is a blueprint; all others are files' heads.
pub(crate) const BLUEPRINT: u8 = b'B';

/// The input is either a file's head, which gets zeros for data, or the numbers of a blueprint and
/// of changes to the metadata of its file.
pub fn open_and_plan(data: &[u8]) -> Outcome {
    let bytes = match data.split_first() {
        Some((&BLUEPRINT, choices)) => from_blueprint(&mut Choices::new(choices)),
        _ => {
            let mut bytes = data.to_vec();
            bytes.resize(data.len() + DATA_BYTES, 0);
            Some(bytes)
        }
    };
    let Some(bytes) = bytes else { return Outcome::sizes(&[]) };
    let file = match File::from_bytes(bytes) {
        Ok(file) => file,
        Err(error) => return Outcome::error(&error),
    };
    plan_all(&file)
}

/// Sizes around which blocks, heads and pages begin.
const SIZES: [usize; 16] = [0, 1, 2, 3, 8, 16, 31, 32, 33, 48, 64, 80, 96, 128, 256, 288];

/// A file whose tensors fit its hyper-parameters, however odd these are; `None` when the blueprint
/// is refused or too large to be worth it.
fn from_blueprint(input: &mut Choices<'_>) -> Option<Vec<u8>> {
    let architecture = input.one(ARCHITECTURES);
    let mut blueprint: Blueprint = (architecture.tiny)(64);
    let quant = *input.one(Quant::ALL);
    blueprint.biases = input.byte() % 2 == 1;
    blueprint.tied = input.byte() % 2 == 1;
    for _ in 0..input.byte() % 8 {
        change(&mut blueprint, input);
    }
    let changes = input.byte() % 4;
    let mut writer = Writer::new();
    for (key, value) in blueprint.metadata() {
        writer = writer.kv(key, value);
    }
    let keys: Vec<String> = blueprint.metadata().into_iter().map(|(key, _)| key).collect();
    for _ in 0..changes {
        let key = input.one(&keys).clone();
        writer = match input.byte() % 4 {
            0 => writer.kv(key, f32::from_bits(input.u32())),
            1 => writer.kv(key, u64::from(input.u32()) << (input.byte() % 33)),
            2 => writer.kv(key, "yarn"),
            _ => writer.kv(key, u32::from(input.byte())),
        };
    }
    let tensors = blueprint.tensors().ok()?;
    let mut room = DATA_BYTES as u64;
    for TensorShape { name, dims } in tensors {
        let whole = dims[0] % quant.block_len() as u64 == 0 && dims.len() > 1;
        let quant = if whole { quant } else { Quant::F32 };
        let elements = dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim))?;
        room = room.checked_sub(elements)?;
        let bytes = elements / quant.block_len() as u64 * quant.block_bytes() as u64;
        writer = writer.tensor(name, quant, dims, vec![0; bytes as usize]);
    }
    writer.to_bytes().ok()
}

fn change(blueprint: &mut Blueprint, input: &mut Choices<'_>) {
    let which = input.byte();
    let size = *input.one(&SIZES);
    let config = &mut blueprint.config;
    match which % 16 {
        0 => config.context = size,
        1 => config.vocabulary = size,
        2 => config.embedding = size,
        3 => config.layers = size % 4,
        4 => config.feed_forward = size,
        5 => config.heads = size % 34,
        6 => config.kv_heads = size % 34,
        7 => config.head_dim = size,
        8 => config.rope_dims = size,
        9 => config.rope_base = f64::from(f32::from_bits(input.u32())),
        10 => config.eps = f32::from_bits(input.u32()),
        11 => config.window = Some(Window { size, period: size % 5, rope_base: 1e4 }),
        12 => {
            let (count, used) = (usize::from(input.byte() % 9), usize::from(input.byte() % 5));
            config.experts = Some(Experts { count, used, width: size });
        }
        13 => config.scaling = Scaling::Factors(vec![1.0; size]),
        14 => config.scaling = Scaling::Linear { factor: f64::from(f32::from_bits(input.u32())) },
        _ => {
            let mut number = || f64::from(f32::from_bits(input.u32()));
            config.scaling = Scaling::Yarn {
                factor: number(),
                original_context: size as f64,
                beta_fast: number(),
                beta_slow: number(),
                log_multiplier: number(),
                attention_factor: number(),
            };
        }
    }
}

/// Opens the model and plans steps of several shapes; gives what came of the last.
fn plan_all(file: &File) -> Outcome {
    let model = match minfer_models::open(file) {
        Ok(model) => model,
        Err(error) => return Outcome::error(&error),
    };
    let layers = model.config().layers;
    let (canonical, exact) = (Reference::new(Mode::Canonical), Reference::new(Mode::F64));
    let simple = CpuTarget::new("simple", Isa::Scalar, 1);
    let wide = CpuTarget::new("wide", Isa::Avx2, 8);
    let targets: [&dyn Target; 4] = [canonical.target(), exact.target(), &simple, &wide];
    let planned = targets.map(|target| Planned { target, layouts: &[] });
    let mut outcome = Outcome::sizes(&[]);
    for shape in shapes() {
        let graph = match model.graph(&shape) {
            Ok(graph) => graph,
            Err(error) => {
                outcome = Outcome::error(&error);
                continue;
            }
        };
        graph.verify().expect("a graph that was built is sound");
        let _ = (graph.dump(), graph.to_dot(), graph.to_json());
        for target in 0..4 {
            let mut placement = Placement::whole(TargetId(target), layers);
            // The ends elsewhere: one more split, with values that cross.
            placement.head = TargetId((target + u32::from(shape.tokens > 1)) % 4);
            let options =
                Options { exact: target == 1, keep_all: shape.tokens == 1, ..Options::default() };
            outcome = match minfer_plan::plan(&graph, &planned, &placement, &options) {
                Ok(program) => {
                    let _ = (program.dump(), program.dump_launches());
                    let (nodes, splits) = (program.graph.nodes.len(), program.splits.len());
                    Outcome::sizes(&[nodes, splits, program.notes.len()])
                }
                Err(error) => Outcome::error(&error),
            };
        }
    }
    outcome
}

fn shapes() -> [StepShape; 3] {
    let shape = |tokens: usize, want, key, value| StepShape {
        tokens,
        outputs: tokens.min(8),
        want,
        kind: StepKind::Mixed,
        kv: KvTypes { key, value },
        sequences: 4,
        pages: 4,
        work: work_capacity(tokens, 4, 8),
        partials: 8,
    };
    [
        shape(1, Want::Argmax, KvType::F16, KvType::F16),
        shape(33, Want::Logits, KvType::F32, KvType::F32),
        shape(512, Want::TopK(4), KvType::Q8_0, KvType::BF16),
    ]
}
