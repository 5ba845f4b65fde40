//! Tiny models, whole, on any device: one sequence, cut into chunks at will, or several in a step.

use std::collections::HashMap;
use std::sync::Arc;

use minfer_gguf::File;
use minfer_graph::{
    KvTypes, PAGE_POSITIONS, StateDecl, StateId, StepKind, StepShape, ValueId, Want, WeightId,
};
use minfer_models::Model;
use minfer_plan::{
    Bounds, Buckets, Device, GroupInputs, Inputs, Limit, Options, PlacedState, PlacedWeight,
    Placement, Planned, Program, Region, Runner, SequenceRows, StateHandle, StepOutputs, TargetId,
    TokenInput, attention_work, plan, work_capacity,
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
    TinyModel::new(file, devices, [1, tokens.len()], run)?.prompt(tokens, &run.chunks)
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

/// What a sequence brings to a step.
#[derive(Clone, Copy, Debug)]
pub struct TinyRows<'a> {
    /// Index of the sequence.
    pub sequence: usize,
    /// Position of its first token.
    pub position: usize,
    /// Its tokens.
    pub tokens: &'a [u32],
    /// How many of the last of them are followed by logits.
    pub outputs: usize,
}

/// The rows that steps are planned for.
enum RowsOfSteps {
    /// As many as each brings.
    Exact,
    /// Always so many.
    Fixed(usize),
    /// An engine's.
    Buckets(Buckets),
}

/// A model with its state on devices, for any number of steps.
pub struct TinyModel {
    model: Model,
    devices: Vec<Box<dyn Device>>,
    states: Vec<StateHandle>,
    placement: Placement,
    declared: Arc<[StateDecl]>,
    run: TinyRun,
    /// Pages of each sequence, in every group alike.
    tables: Vec<Vec<i32>>,
    rows: RowsOfSteps,
    runners: HashMap<StepShape, Runner>,
}

impl TinyModel {
    /// Room for so many sequences of so many positions each, their pages scattered over the pool.
    pub fn new(
        file: &File,
        mut devices: Vec<Box<dyn Device>>,
        [sequences, positions]: [usize; 2],
        run: &TinyRun,
    ) -> Result<TinyModel> {
        let model = minfer_models::open(file).map_err(|e| e.to_string())?;
        let pages = positions.div_ceil(PAGE_POSITIONS) + 1;
        let (first, last) = (run.layers.first(), run.layers.last());
        let placement = Placement {
            embed: first.copied().unwrap_or(TargetId(0)),
            layers: run.layers.clone(),
            head: last.copied().unwrap_or(TargetId(0)),
        };
        let regions: Vec<Region> = file.parts().iter().map(|p| Region(p.clone())).collect();
        let declared = model.states(run.kv).map_err(|e| e.to_string())?;
        let any = shape([1, 1], [sequences, pages], run.kv);
        let graph = model.graph(&any).map_err(|e| e.to_string())?;
        let mut states = Vec::new();
        for target in 0..devices.len() {
            let id = TargetId(target as u32);
            let ids = placement.weights(&graph, devices.len(), id).map_err(|e| e.to_string())?;
            let weights: Vec<PlacedWeight> = ids.iter().map(|&id| placed(&model, id)).collect();
            let device = &mut devices[target];
            device.weights(&regions, &weights).map_err(|e| e.to_string())?;
            let pages = sequences * pages;
            let placed: Vec<PlacedState> = placement
                .states(&declared, id)
                .into_iter()
                .map(|id: StateId| PlacedState { id, decl: declared[id.0 as usize].clone(), pages })
                .collect();
            states.push(device.state(&placed).map_err(|e| e.to_string())?);
        }
        let page = |sequence: usize| move |page: usize| (page * sequences + sequence) as i32;
        let tables = (0..sequences).map(|s| (0..pages).map(page(s)).collect()).collect();
        let (run, runners) = (run.clone(), HashMap::new());
        Ok(TinyModel {
            model,
            devices,
            states,
            placement,
            declared,
            run,
            tables,
            rows: RowsOfSteps::Exact,
            runners,
        })
    }

    /// Plans steps for the buckets of an engine, instead of for exactly what each brings.
    pub fn in_buckets(self, buckets: Buckets) -> TinyModel {
        TinyModel { rows: RowsOfSteps::Buckets(buckets), ..self }
    }

    /// Plans every step for so many rows.
    pub fn in_buckets_of(self, rows: usize) -> TinyModel {
        TinyModel { rows: RowsOfSteps::Fixed(rows), ..self }
    }

    /// Pages of a sequence, to be shared with others or exchanged.
    pub fn pages(&mut self, sequence: usize) -> &mut [i32] {
        &mut self.tables[sequence]
    }

    /// Copies a page in every group of every device.
    pub fn copy_page(&mut self, from: i32, to: i32) -> Result<()> {
        let groups = self.windows().len();
        for (device, state) in self.devices.iter_mut().zip(&self.states) {
            for group in 0..groups {
                let copied = device.copy_page(*state, group, from as u32, to as u32);
                copied.map_err(|e| e.to_string())?;
            }
        }
        Ok(())
    }

    /// The first sequence anew, in steps of these sizes, the last of which repeats; logits after
    /// each token.
    pub fn prompt(&mut self, tokens: &[u32], chunks: &[usize]) -> Result<Vec<f32>> {
        let mut logits = Vec::with_capacity(tokens.len() * self.model.config().vocabulary);
        let mut position = 0;
        let mut chunks = chunks.iter().copied();
        let mut size = chunks.next().unwrap_or(tokens.len());
        while position < tokens.len() {
            let rows = size.clamp(1, tokens.len() - position);
            let tokens = &tokens[position..position + rows];
            let rows = TinyRows { sequence: 0, position, tokens, outputs: tokens.len() };
            logits.extend(self.step(&[rows])?);
            position += tokens.len();
            size = chunks.next().unwrap_or(size);
        }
        Ok(logits)
    }

    /// One step; gives the rows of logits that were asked for, in the order of `rows`.
    pub fn step(&mut self, rows: &[TinyRows<'_>]) -> Result<Vec<f32>> {
        self.outputs(rows, |_, outputs| Ok(outputs.logits().map_err(|e| e.to_string())?.to_vec()))
    }

    /// One step; gives every value that it computed, by the name of its node. The planner has to be
    /// told to keep them all.
    pub fn values(&mut self, rows: &[TinyRows<'_>]) -> Result<Vec<(String, Vec<u8>)>> {
        self.outputs(rows, |program, outputs| {
            let nodes = program.graph.nodes.iter();
            let values =
                nodes.flat_map(|node| node.outputs.iter().map(|value| (&node.name, *value)));
            let read = |(name, value): (&String, ValueId)| match outputs.value(value) {
                Ok(bytes) => Ok((name.clone(), bytes.to_vec())),
                Err(error) => Err(error.to_string()),
            };
            values.map(read).collect()
        })
    }

    /// Runs a step and reads what it left.
    fn outputs<T>(
        &mut self,
        rows: &[TinyRows<'_>],
        read: impl FnOnce(&Program, &StepOutputs<'_>) -> Result<T>,
    ) -> Result<T> {
        let tokens = rows.iter().map(|rows| rows.tokens.len()).sum();
        let outputs = rows.iter().map(|rows| rows.outputs).sum();
        let bucket = match &self.rows {
            RowsOfSteps::Exact => [tokens, outputs],
            RowsOfSteps::Fixed(rows) => [*rows, *rows],
            RowsOfSteps::Buckets(buckets) => {
                let bucket = buckets.choose(tokens, outputs).ok_or("no bucket is large enough")?;
                [bucket.tokens, bucket.outputs]
            }
        };
        let pages = self.tables.first().map_or(0, Vec::len);
        let shape = shape(bucket, [self.tables.len(), pages], self.run.kv);
        let inputs = self.inputs(rows, &shape);
        let bounds = Bounds {
            vocabulary: self.model.config().vocabulary,
            context: pages * PAGE_POSITIONS,
            pool_pages: vec![self.tables.len() * pages; inputs.groups.len()],
        };
        inputs.check(&shape, &bounds).map_err(|e| e.to_string())?;
        if !self.runners.contains_key(&shape) {
            let runner = self.load(&shape)?;
            self.runners.insert(shape, runner);
        }
        let runner = &self.runners[&shape];
        let ticket = runner.submit(&mut self.devices, Arc::new(inputs));
        let ticket = ticket.map_err(|e| e.to_string())?;
        let outputs = runner.wait(&mut self.devices, ticket, &Limit::NONE);
        let outputs = outputs.map_err(|e| e.to_string())?;
        read(runner.program(), &outputs)
    }

    fn load(&mut self, shape: &StepShape) -> Result<Runner> {
        let graph = self.model.graph(shape).map_err(|e| e.to_string())?;
        let planned: Vec<Planned<'_>> =
            self.devices.iter().map(|d| Planned { target: d.target(), layouts: &[] }).collect();
        let program = plan(&graph, &planned, &self.placement, &self.run.options);
        let program = Arc::new(program.map_err(|e| e.to_string())?);
        Runner::load(&mut self.devices, program, &self.states).map_err(|e| e.to_string())
    }

    /// Windows of the groups.
    fn windows(&self) -> Vec<Option<usize>> {
        let mut windows: Vec<Option<usize>> = Vec::new();
        for state in self.declared.iter() {
            if let StateDecl::Paged { group, window, .. } = state
                && *group == windows.len()
            {
                windows.push(*window);
            }
        }
        windows
    }

    fn inputs(&self, rows: &[TinyRows<'_>], shape: &StepShape) -> Inputs {
        let mut inputs = Inputs::default();
        let (mut sequences, mut slots) = (Vec::new(), Vec::new());
        for &TinyRows { sequence, position, tokens, outputs } in rows {
            let (row, rows) = (inputs.tokens.len(), tokens.len());
            sequences.push(SequenceRows { row, rows, sequence, position });
            inputs.tokens.extend(tokens.iter().map(|&id| TokenInput::Known(id)));
            inputs.output_rows.extend((row + rows - outputs..row + rows).map(|row| row as i32));
            for position in position..position + rows {
                let page = self.tables[sequence][position / PAGE_POSITIONS];
                let slot = page * PAGE_POSITIONS as i32 + (position % PAGE_POSITIONS) as i32;
                inputs.positions.push(position as i32);
                slots.push(slot);
            }
        }
        let pages: Vec<i32> = self.tables.concat();
        let group = |window| GroupInputs {
            slots: slots.clone(),
            pages: pages.clone(),
            work: attention_work(&sequences, window, shape),
        };
        inputs.groups = self.windows().into_iter().map(group).collect();
        inputs
    }
}

fn shape([tokens, outputs]: [usize; 2], [sequences, pages]: [usize; 2], kv: KvTypes) -> StepShape {
    let partials = 8;
    let work = work_capacity(tokens, sequences, partials);
    StepShape {
        tokens,
        outputs,
        want: Want::Logits,
        kind: StepKind::Mixed,
        kv,
        sequences,
        pages,
        work,
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
