//! A model's program for steps of some size, planned as an engine would, for looking at.

use anyhow::Result;
use minfer_engine::{EngineOptions, gate, open_devices, place};
use minfer_gguf::File;
use minfer_graph::{
    Counts, PAGE_POSITIONS, PARTITION_POSITIONS, StepKind, StepShape, Want, WeightId,
};
use minfer_models::Model;
use minfer_plan::{
    Caps, DeviceKind, Layout, Options, PlacedWeight, Planned, Program, Region, TargetId,
    work_capacity,
};

use super::load;

/// Context when nothing is said, as engines have it.
const CONTEXT: usize = 8192;

/// A program, the model it is of, and the devices it is for.
#[derive(Debug)]
pub struct Explained {
    /// The program.
    pub program: Program,
    /// Of each target.
    pub devices: Vec<Caps>,
    /// Which layers are where, and why.
    pub placement: String,
    /// Positions that the model was trained with.
    pub trained: usize,
    /// Rows of a full step.
    pub counts: Counts,
}

/// Plans steps of `tokens` tokens and one output.
///
/// # Errors
/// The file is not a model that runs here, or a device cannot run it.
pub fn plan(file: &File, options: &EngineOptions, tokens: usize) -> Result<Explained> {
    let model = minfer_models::open(file)?;
    let mut devices = open_devices(options)?;
    let kinds: Vec<DeviceKind> = devices.iter().map(|d| d.target().caps().kind).collect();
    let (placement, placed) = place(model.config().layers, &kinds, options.gpu_layers);
    let graph = model.graph(&shape(&model, options, tokens))?;
    let regions: Vec<Region> = file.parts().iter().map(|part| Region(part.clone())).collect();
    let mut layouts = Vec::new();
    for index in 0..devices.len() {
        let target = TargetId(index as u32);
        let ids = placement.weights(&graph, devices.len(), target)?;
        let weights: Vec<PlacedWeight> = ids.iter().map(|id| placed_weight(&model, *id)).collect();
        let mut all = vec![Layout::File; model.weights().len()];
        for (id, layout) in ids.iter().zip(devices[index].weights(&regions, &weights)?) {
            all[id.0 as usize] = layout;
        }
        layouts.push(all);
    }
    let targets: Vec<Planned<'_>> = devices
        .iter()
        .zip(&layouts)
        .map(|(device, layouts)| Planned { target: device.target(), layouts })
        .collect();
    let how = Options { fusions: options.fusions.clone(), exact: options.exact, keep_all: false };
    let program = minfer_plan::plan(&graph, &targets, &placement, &how)
        .map_err(|error| load::advised(gate(error, &graph, &targets, &placement, &how)))?;
    Ok(Explained {
        program,
        devices: devices.iter().map(|device| device.target().caps().clone()).collect(),
        placement: placed,
        trained: model.config().context,
        counts: Counts { tokens, outputs: 1 },
    })
}

fn shape(model: &Model, options: &EngineOptions, tokens: usize) -> StepShape {
    let context = options.context.unwrap_or(model.config().context.min(CONTEXT));
    let partitions = context.div_ceil(PARTITION_POSITIONS);
    let partials = if partitions < 2 { 0 } else { partitions };
    StepShape {
        tokens,
        outputs: 1,
        want: Want::Logits,
        kind: kind_of(options, tokens),
        kv: options.kv_types(),
        sequences: 1,
        pages: context.div_ceil(PAGE_POSITIONS),
        work: work_capacity(tokens, 1, partials),
        partials,
    }
}

/// The kind of a step of so many tokens, where kinds come apart.
fn kind_of(options: &EngineOptions, tokens: usize) -> StepKind {
    match (options.deterministic, tokens) {
        (false, _) => StepKind::Mixed,
        (true, 1) => StepKind::Decode,
        (true, _) => StepKind::Prompt,
    }
}

fn placed_weight(model: &Model, id: WeightId) -> PlacedWeight {
    let index = id.0 as usize;
    let source = model.sources()[index];
    let decl = model.weights()[index].clone();
    PlacedWeight { id, decl, region: source.part, offset: source.offset as usize }
}
