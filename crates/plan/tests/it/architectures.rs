//! The tiny models of all architectures, planned in many ways.

use minfer_gguf::{File, Writer};
use minfer_graph::{Graph, StepKind, StepShape, Want};
use minfer_models::arch::ARCHITECTURES;
use minfer_models::{Blueprint, Model};
use minfer_plan::{FUSIONS, Fusion, Options};
use minfer_quant::Quant;

use crate::simulate;
use crate::target::*;
use crate::world::KV;

/// A model of a blueprint, its matrices in `quant`, its bytes all zero.
pub fn model(blueprint: &Blueprint, quant: Quant) -> Model {
    let mut writer = Writer::new();
    for (key, value) in blueprint.metadata() {
        writer = writer.kv(key, value);
    }
    for tensor in blueprint.tensors().unwrap() {
        let quant = if tensor.dims.len() == 1 { Quant::F32 } else { quant };
        let rows: u64 = tensor.dims[1..].iter().product();
        let bytes = quant.row_bytes(tensor.dims[0] as usize).unwrap() * rows as usize;
        writer = writer.tensor(tensor.name, quant, tensor.dims, vec![0; bytes]);
    }
    minfer_models::open(&File::from_bytes(writer.to_bytes().unwrap()).unwrap()).unwrap()
}

/// The shape of a decode step of two sequences.
pub fn shape(want: Want) -> StepShape {
    let shape = StepShape {
        tokens: 8,
        outputs: 8,
        want,
        kind: StepKind::Mixed,
        kv: KV,
        sequences: 2,
        pages: 16,
        work: 0,
        partials: 8,
    };
    StepShape { work: minfer_plan::work_capacity(8, 2, 8), ..shape }
}

fn graphs() -> Vec<(&'static str, Graph, usize)> {
    let graphs = ARCHITECTURES.iter().map(|architecture| {
        let model = model(&(architecture.tiny)(64), Quant::Q8_0);
        let graph = model.graph(&shape(Want::Logits)).unwrap();
        (architecture.name, graph, model.config().layers)
    });
    graphs.collect()
}

/// Nodes of each kind, before and after.
fn counts(graph: &Graph, fusions: &[Fusion]) -> String {
    let target = Switches::new("a").wanting(blocks);
    let program = plan_whole(graph, &target, &only(fusions)).unwrap();
    simulate::program(&program).unwrap();
    let kinds = kinds(&program.graph);
    let mut names: Vec<&str> = kinds.clone();
    names.sort_unstable();
    names.dedup();
    let count = |name: &str| kinds.iter().filter(|kind| **kind == name).count();
    let counts: Vec<String> = names.iter().map(|name| format!("{name}={}", count(name))).collect();
    counts.join(" ")
}

#[test]
fn fusions_of_every_architecture() {
    let mut text = String::new();
    for (name, graph, _) in graphs() {
        text += &format!("{name}\n  none: {}\n", counts(&graph, &[]));
        for fusion in FUSIONS {
            text += &format!("  {}: {}\n", fusion.name(), counts(&graph, &[*fusion]));
        }
        text += &format!("  all: {}\n", counts(&graph, FUSIONS));
    }
    expect_test::expect_file!["snapshots/fusions.txt"].assert_eq(&text);
}

/// Any placement gives sound splits, fused or not, exact or not.
#[test]
fn placements_of_every_architecture() {
    let (a, b) = (Switches::new("a").wanting(blocks), Switches::new("b").wanting(all_q8_0));
    for (name, graph, layers) in graphs() {
        for bits in 0..1u32 << layers.min(5) {
            let placed: Vec<u32> = (0..layers).map(|layer| bits >> (layer % 5) & 1).collect();
            let fusions = if bits % 2 == 0 { FUSIONS.to_vec() } else { Vec::new() };
            let options = Options { fusions, exact: bits % 3 == 0, keep_all: bits % 5 == 4 };
            let program = plan_on_two(&graph, [&a, &b], &placed, &options).unwrap();
            simulate::program(&program).unwrap_or_else(|what| panic!("{name} {placed:?}: {what}"));
            let changes = placed.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert_eq!(program.splits.len(), changes + 1, "{name} {placed:?}");
        }
    }
}

/// A decode step of a whole model re-uses its memory: far less than all values together.
#[test]
fn arenas_are_re_used() {
    for (name, graph, _) in graphs() {
        let target = Switches::new("a").wanting(blocks);
        let program = plan_whole(&graph, &target, &Options::default()).unwrap();
        let memory = &program.splits[0].memory;
        let values = memory.places.keys().map(|&v| program.graph.ty(v).bytes(&shape(Want::Logits)));
        let all: usize = values.sum();
        assert!(memory.arena_bytes * 2 < all, "{name}: {} of {all}", memory.arena_bytes);
    }
}
