//! What a decode step costs, counted by the simulator: launches, barriers, traffic, whole lines.
//!
//! Models have two layers in q4_k and 300 positions, and are as wide as the smallest ones of their
//! kind that people run: 1024, and 2048 where experts share out the weights. Beside the weights of
//! larger ones activations are smaller still.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use minfer_backend_metal::hazards::barriers;
use minfer_backend_metal::pieces::pieces;
use minfer_backend_metal::{Limits, Slot, Staging};
use minfer_conformance::blueprint_file;
use minfer_gguf::File;
use minfer_graph::{
    Counts, KvTypes, PAGE_POSITIONS, StateDecl, StateId, StepKind, StepShape, Want, WeightId,
};
use minfer_models::arch::ARCHITECTURES;
use minfer_models::{Blueprint, Model};
use minfer_plan::{
    Device, GroupInputs, Inputs, Options, PlacedState, PlacedWeight, Placement, Planned, Program,
    Region, Runner, SequenceRows, TargetId, TokenInput, attention_work, plan, work_capacity,
};
use minfer_quant::{KvType, Quant};

use crate::device::{Measured, Run, SimDevice};
use crate::kernels::simulator_is_here;

/// Where the step's token stands.
const POSITION: usize = 300;

fn blueprint(name: &str) -> Blueprint {
    let architecture = ARCHITECTURES.iter().find(|architecture| architecture.name == name);
    let width = if name == "qwen3moe" { 2048 } else { 1024 };
    let mut blueprint = (architecture.expect("an architecture").tiny)(width).with_layers(2);
    let config = &mut blueprint.config;
    (config.heads, config.kv_heads) = (16, 4);
    (config.head_dim, config.rope_dims) = (64, 64);
    config.feed_forward = 2816;
    if let Some(window) = &mut config.window {
        (window.size, window.period) = (128, 2);
    }
    if let Some(experts) = &mut config.experts {
        (experts.count, experts.used, experts.width) = (8, 2, 768);
    }
    blueprint
}

/// A step of one token, planned.
struct Decode {
    /// Command buffers that it is cut into.
    command_buffers: usize,
    /// Its launches, in order.
    launches: Vec<Measured>,
    /// Bytes that no step can do without: weights, cache, logits or ids.
    least: u64,
}

fn shape(want: Want) -> StepShape {
    let (kv, partials) = (KvType::F16, 8);
    StepShape {
        tokens: 1,
        outputs: 1,
        want,
        kind: StepKind::Mixed,
        kv: KvTypes { key: kv, value: kv },
        sequences: 1,
        pages: (POSITION + 1).div_ceil(PAGE_POSITIONS),
        work: work_capacity(1, 1, partials),
        partials,
    }
}

fn inputs(shape: &StepShape, states: &[StateDecl]) -> Inputs {
    let rows = [SequenceRows { row: 0, rows: 1, sequence: 0, position: POSITION }];
    let mut groups: Vec<GroupInputs> = Vec::new();
    for state in states {
        if let StateDecl::Paged { group, window, .. } = state
            && *group == groups.len()
        {
            groups.push(GroupInputs {
                slots: vec![POSITION as i32],
                pages: (0..shape.pages as i32).collect(),
                work: attention_work(&rows, *window, shape),
            });
        }
    }
    Inputs {
        tokens: vec![TokenInput::Known(7)],
        positions: vec![POSITION as i32],
        output_rows: vec![0],
        groups,
        profile: false,
    }
}

/// Weights, cache and what is `given` of a step at `counts`, each byte once.
fn least(program: &Program, states: &[StateDecl], given: usize, counts: &Counts) -> u64 {
    let graph = &program.graph;
    let weights = graph.nodes.iter().map(|node| {
        let (inputs, outputs) = (graph.types(&node.inputs), graph.types(&node.outputs));
        node.op.cost(&inputs, &outputs, &graph.tables, counts).weight_bytes
    });
    let cache = states.iter().map(|state| match state {
        StateDecl::Paged { kv_heads, head_dim, key, value, window, .. } => {
            let seen = window.map_or(POSITION + 1, |window| window.min(POSITION + 1));
            let vector = |kv: &KvType| kv.row_bytes(*head_dim).expect("heads of whole blocks");
            // What is read, and the one that is written.
            ((seen + 1) * kv_heads * (vector(key) + vector(value))) as u64
        }
        StateDecl::PerSequence { .. } => 0,
    });
    weights.sum::<u64>() + cache.sum::<u64>() + given as u64
}

/// However long the step takes.
fn command_buffers(program: &Program, inputs: &Inputs) -> usize {
    let limits = Limits::apple7("the slowest");
    let of_split = |split| pieces(split, inputs, &limits, Duration::from_nanos(1)).len();
    program.splits.iter().map(|split| of_split(split)).sum()
}

fn place(model: &Model, weight: WeightId) -> PlacedWeight {
    let index = weight.0 as usize;
    let source = model.sources()[index];
    let decl = model.weights()[index].clone();
    PlacedWeight { id: weight, decl, region: source.part, offset: source.offset as usize }
}

fn decode(blueprint: &Blueprint, quant: Quant, want: Want) -> Decode {
    let file = File::from_bytes(blueprint_file(blueprint, quant)).expect("opens");
    let model = minfer_models::open(&file).expect("a model");
    let shape = shape(want);
    let states = model.states(shape.kv).expect("caches");
    let measured = Arc::new(Mutex::new(Vec::new()));
    let how = Run { checked: true, seed: 0 };
    let device = SimDevice::new(how, Staging::Full).measuring(measured.clone());
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(device)];
    let regions: Vec<Region> = file.parts().iter().map(|part| Region(part.clone())).collect();
    let weights: Vec<PlacedWeight> =
        (0..model.weights().len()).map(|index| place(&model, WeightId(index as u32))).collect();
    devices[0].weights(&regions, &weights).expect("weights");
    let placed: Vec<PlacedState> = (0..)
        .zip(states.iter())
        .map(|(id, decl)| PlacedState { id: StateId(id), decl: decl.clone(), pages: shape.pages })
        .collect();
    let state = devices[0].state(&placed).expect("memory");
    let graph = model.graph(&shape).expect("a graph");
    let planned = [Planned { target: devices[0].target(), layouts: &[] }];
    let placement = Placement::whole(TargetId(0), model.config().layers);
    let program = plan(&graph, &planned, &placement, &Options::default()).expect("a program");
    let inputs = inputs(&shape, &states);
    let counts = inputs.counts();
    let given = match want {
        Want::Logits | Want::LogitsAndId => 4 * model.config().vocabulary,
        Want::Argmax => 4,
        Want::TopK(k) => 8 * k,
    };
    let least = least(&program, &states, given, &counts);
    let command_buffers = command_buffers(&program, &inputs);
    let runner = Runner::load(&mut devices, Arc::new(program), &[state]).expect("loads");
    let ticket = runner.submit(&mut devices, Arc::new(inputs));
    let _ticket =
        ticket.unwrap_or_else(|error| panic!("{}: {error}", blueprint.config.architecture));
    let launches = std::mem::take(&mut *measured.lock().expect("no test failed"));
    Decode { command_buffers, launches, least }
}

impl Decode {
    fn traffic(&self) -> u64 {
        self.launches.iter().map(|launch| launch.traffic.bytes()).sum()
    }

    fn barriers(&self) -> usize {
        let touched: Vec<_> = self.launches.iter().map(|launch| launch.touched.clone()).collect();
        barriers(&touched).iter().filter(|barrier| **barrier).count()
    }

    /// Launches of the first layer.
    fn of_layer(&self) -> Vec<&str> {
        let of_layer = self.launches.iter().filter(|launch| launch.layer == Some(0));
        of_layer.map(|launch| launch.dispatch.kernel.as_str()).collect()
    }

    /// Lines of weights that were read, and those of which one threadgroup read every byte.
    fn weight_lines(&self) -> [u64; 2] {
        let mut lines = [0, 0];
        for Measured { dispatch, traffic, .. } in &self.launches {
            for buffer in &traffic.buffers {
                if let Some(Slot::Weight(_)) = dispatch.buffers.get(buffer.index as usize) {
                    lines[0] += buffer.lines_read;
                    lines[1] += buffer.lines_full;
                }
            }
        }
        lines
    }
}

/// Launches of a layer that are allowed: the mixture of experts has its router, one
/// launch for both of an expert's first products and one for its last, and what puts them together.
const LAUNCHES: [(&str, usize); 5] =
    [("llama", 7), ("qwen2", 7), ("qwen3", 7), ("gemma3", 9), ("qwen3moe", 13)];

#[test]
fn a_decode_step_moves_little_but_weights_and_cache() {
    if !simulator_is_here() {
        return;
    }
    let mut text = String::new();
    for (name, allowed) in LAUNCHES {
        let decode = decode(&blueprint(name), Quant::Q4_K, Want::Logits);
        let launches = decode.of_layer();
        assert!(launches.len() <= allowed, "{name}: {launches:?}");
        assert_eq!(decode.command_buffers, 1, "{name}: command buffers");
        let barriers = decode.barriers();
        assert!(barriers <= decode.launches.len(), "{name}: {barriers} barriers");
        let share = decode.traffic() as f64 / decode.least as f64;
        assert!(share <= 1.03, "{name}: {share} times what it has to move");
        let [read, full] = decode.weight_lines();
        let whole = full as f64 / read as f64;
        assert!(whole >= 0.95, "{name}: {whole} of the weights' lines are read whole");
        let _ = writeln!(
            text,
            "{name}\n  launches of a layer: {} ({})\n  of the step: {}, barriers: {barriers}\n  \
             bytes: {}, at least {}: {share:.4}\n  lines of weights: {read}, read whole: {full}",
            launches.len(),
            launches.join(" "),
            decode.launches.len(),
            decode.traffic(),
            decode.least,
        );
    }
    expect_test::expect_file!["snapshots/figures.txt"].assert_eq(&text);
}

#[test]
fn a_step_that_gives_ids_moves_no_more() {
    if !simulator_is_here() {
        return;
    }
    let decode = decode(&blueprint("llama"), Quant::Q4_K, Want::TopK(1));
    let share = decode.traffic() as f64 / decode.least as f64;
    assert!(share <= 1.03, "{share} times what it has to move");
    assert_eq!(decode.command_buffers, 1);
}
