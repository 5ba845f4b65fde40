//! Tiny models, whole, on any device: one sequence, cut into chunks at will.

use std::sync::Arc;

use minfer_gguf::File;
use minfer_graph::{KvTypes, PAGE_POSITIONS, StateDecl, StateId, StepShape, Want, WeightId};
use minfer_models::Model;
use minfer_plan::{
    Bounds, Device, GroupInputs, Inputs, Limit, Options, PlacedState, PlacedWeight, Placement,
    Planned, Region, Runner, SequenceRows, StateHandle, TargetId, TokenInput, attention_work, plan,
    work_capacity,
};

/// How a tiny model is run.
#[derive(Clone, Debug)]
pub struct TinyRun {
    /// Types of the cache.
    pub kv: KvTypes,
    /// Tokens of each step; the last size repeats.
    pub chunks: Vec<usize>,
    /// The planner's options.
    pub options: Options,
    /// Target of each layer; the ends go with the first and last.
    pub layers: Vec<TargetId>,
}

/// What went wrong, as text: this is a test's tool.
type Result<T> = std::result::Result<T, String>;

/// Runs `tokens` through the model of a file's bytes; gives the logits after each token, one row a
/// token. State and programs are made anew for each call.
pub fn run_tiny(
    file: &File,
    devices: Vec<Box<dyn Device>>,
    tokens: &[u32],
    run: &TinyRun,
) -> Result<Vec<f32>> {
    let model = minfer_models::open(file).map_err(|e| e.to_string())?;
    let mut loaded = Loaded::new(&model, file, devices, tokens.len(), run)?;
    let mut logits = Vec::with_capacity(tokens.len() * model.config().vocabulary);
    let mut position = 0;
    let mut chunks = run.chunks.iter().copied();
    let mut size = chunks.next().unwrap_or(tokens.len());
    while position < tokens.len() {
        let rows = size.clamp(1, tokens.len() - position);
        logits.extend(loaded.step(&tokens[position..position + rows], position, run)?);
        position += rows;
        size = chunks.next().unwrap_or(size);
    }
    Ok(logits)
}

/// [`run_tiny`] on one device in default mode with f32 caches.
pub fn tiny_logits(file: &File, device: Box<dyn Device>, tokens: &[u32]) -> Result<Vec<f32>> {
    let layers = minfer_models::open(file).map_err(|e| e.to_string())?.config().layers;
    let kv = minfer_quant::KvType::F32;
    let run = TinyRun {
        kv: KvTypes { key: kv, value: kv },
        chunks: vec![tokens.len()],
        options: Options::default(),
        layers: vec![TargetId(0); layers],
    };
    run_tiny(file, vec![device], tokens, &run)
}

struct Loaded<'m> {
    model: &'m Model,
    devices: Vec<Box<dyn Device>>,
    states: Vec<StateHandle>,
    placement: Placement,
    declared: Arc<[StateDecl]>,
    pages: usize,
}

impl<'m> Loaded<'m> {
    fn new(
        model: &'m Model,
        file: &File,
        mut devices: Vec<Box<dyn Device>>,
        positions: usize,
        run: &TinyRun,
    ) -> Result<Loaded<'m>> {
        let pages = positions.div_ceil(PAGE_POSITIONS) + 1;
        let (first, last) = (run.layers.first(), run.layers.last());
        let placement = Placement {
            embed: first.copied().unwrap_or(TargetId(0)),
            layers: run.layers.clone(),
            head: last.copied().unwrap_or(TargetId(0)),
        };
        let regions: Vec<Region> = file.parts().iter().map(|p| Region(p.clone())).collect();
        let declared = model.states(run.kv).map_err(|e| e.to_string())?;
        let graph = model.graph(&shape(1, pages, run.kv)).map_err(|e| e.to_string())?;
        let mut states = Vec::new();
        for target in 0..devices.len() {
            let id = TargetId(target as u32);
            let ids = placement.weights(&graph, devices.len(), id).map_err(|e| e.to_string())?;
            let weights: Vec<PlacedWeight> = ids.iter().map(|&id| placed(model, id)).collect();
            let device = &mut devices[target];
            device.weights(&regions, &weights).map_err(|e| e.to_string())?;
            let placed: Vec<PlacedState> = placement
                .states(&declared, id)
                .into_iter()
                .map(|id: StateId| PlacedState { id, decl: declared[id.0 as usize].clone(), pages })
                .collect();
            states.push(device.state(&placed).map_err(|e| e.to_string())?);
        }
        Ok(Loaded { model, devices, states, placement, declared, pages })
    }

    fn step(&mut self, tokens: &[u32], position: usize, run: &TinyRun) -> Result<Vec<f32>> {
        let shape = shape(tokens.len(), self.pages, run.kv);
        let graph = self.model.graph(&shape).map_err(|e| e.to_string())?;
        let planned: Vec<Planned<'_>> =
            self.devices.iter().map(|d| Planned { target: d.target(), layouts: &[] }).collect();
        let program =
            plan(&graph, &planned, &self.placement, &run.options).map_err(|e| e.to_string())?;
        let inputs = self.inputs(tokens, position, &shape);
        let bounds = Bounds {
            vocabulary: self.model.config().vocabulary,
            context: self.pages * PAGE_POSITIONS,
            pool_pages: vec![self.pages; inputs.groups.len()],
        };
        inputs.check(&shape, &bounds).map_err(|e| e.to_string())?;
        let runner = Runner::load(&mut self.devices, Arc::new(program), &self.states)
            .map_err(|e| e.to_string())?;
        let ticket =
            runner.submit(&mut self.devices, Arc::new(inputs)).map_err(|e| e.to_string())?;
        let outputs =
            runner.wait(&mut self.devices, ticket, &Limit::NONE).map_err(|e| e.to_string())?;
        Ok(outputs.logits().map_err(|e| e.to_string())?.to_vec())
    }

    fn inputs(&self, tokens: &[u32], position: usize, shape: &StepShape) -> Inputs {
        let positions: Vec<i32> = (position..position + tokens.len()).map(|p| p as i32).collect();
        let rows = [SequenceRows { row: 0, rows: tokens.len(), sequence: 0, position }];
        let mut windows: Vec<Option<usize>> = Vec::new();
        for state in self.declared.iter() {
            if let StateDecl::Paged { group, window, .. } = state
                && *group == windows.len()
            {
                windows.push(*window);
            }
        }
        let groups = windows.into_iter().map(|window| GroupInputs {
            slots: positions.clone(),
            pages: (0..self.pages as i32).collect(),
            work: attention_work(&rows, window, shape),
        });
        Inputs {
            tokens: tokens.iter().map(|&id| TokenInput::Known(id)).collect(),
            positions: positions.clone(),
            output_rows: (0..tokens.len() as i32).collect(),
            groups: groups.collect(),
            profile: false,
        }
    }
}

fn shape(tokens: usize, pages: usize, kv: KvTypes) -> StepShape {
    let partials = 8;
    StepShape {
        tokens,
        outputs: tokens,
        want: Want::Logits,
        kv,
        sequences: 1,
        pages,
        work: work_capacity(tokens, 1, partials),
        partials,
    }
}

fn placed(model: &Model, id: WeightId) -> PlacedWeight {
    let index = id.0 as usize;
    let source = model.sources()[index];
    PlacedWeight {
        id,
        decl: model.weights()[index].clone(),
        region: source.part,
        offset: source.offset as usize,
    }
}
