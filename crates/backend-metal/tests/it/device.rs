//! The device that these tests run on: planned splits, launch by launch, on the simulator.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use metal_sim::{
    Binding, Compiler, Grid, Kernel, Launch, Library, Memory, Mode, Profile, Simulator, Source,
    Traffic, Watch,
};
use minfer_backend_metal::hazards::{Access, touched};
use minfer_backend_metal::{
    Dispatch, Limits, MetalTarget, Slot, Staging, Tune, dispatches, modules,
};
use minfer_graph::{Input, StateDecl, ValueId};
use minfer_plan::{
    Device, DeviceError, Done, Inputs, Io, Layout, Limit, LoadedSplit, Place, PlacedState,
    PlacedWeight, Region, Split, StateHandle, Target, Ticket, TokenInput,
};

/// How launches are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// Whether every access is checked.
    pub checked: bool,
    /// Order of the lanes.
    pub seed: u64,
}

/// Libraries by module, each made when it is first needed.
type Libraries = HashMap<String, OnceLock<Result<Library, String>>>;

/// The kernels, compiled once for all tests of a mode.
fn kernel(name: &str, mode: Mode) -> Result<Kernel, String> {
    static LIBRARIES: [OnceLock<Libraries>; 2] = [OnceLock::new(), OnceLock::new()];
    let libraries = LIBRARIES[usize::from(mode == Mode::Checked)]
        .get_or_init(|| modules().iter().map(|m| (m.name.to_owned(), OnceLock::new())).collect());
    let module = modules().into_iter().find(|m| m.kernels.iter().any(|kernel| kernel == name));
    let module = module.ok_or_else(|| format!("no module has the kernel {name}"))?;
    let library = libraries[module.name].get_or_init(|| {
        let source = Source { name: format!("{}.metal", module.name), text: module.text };
        let compiler = Compiler::find().map_err(|error| error.to_string())?;
        compiler.compile(&source, mode).map_err(|error| error.to_string())
    });
    library.clone()?.kernel(name).map_err(|error| error.to_string())
}

/// Cache memory of a state.
struct Pool {
    keys: Arc<Memory>,
    values: Arc<Memory>,
}

/// A step that was run, and its staging area afterwards.
struct Finished {
    split: Arc<Split>,
    inputs: Arc<Inputs>,
    staging: Vec<u8>,
}

/// What a launch of a step was, and what it moved.
pub struct Measured {
    /// Layer of its node.
    pub layer: Option<usize>,
    /// The launch.
    pub dispatch: Dispatch,
    /// What it touches, as barriers are set by it.
    pub touched: Vec<Access>,
    /// Its traffic.
    pub traffic: Traffic,
}

/// A Metal device on the simulator. Work happens in `submit`.
pub struct SimDevice {
    target: MetalTarget,
    run: Run,
    changed: Option<Library>,
    measured: Option<Arc<Mutex<Vec<Measured>>>>,
    weights: Option<Arc<Memory>>,
    placed: Vec<PlacedWeight>,
    states: Vec<Vec<Option<Pool>>>,
    splits: Vec<(Arc<Split>, StateHandle)>,
    finished: HashMap<u64, Finished>,
}

impl SimDevice {
    /// A device without weights or state.
    pub fn new(run: Run, staging: Staging) -> SimDevice {
        SimDevice {
            target: MetalTarget::new(Limits::apple7("simulated"), staging),
            run,
            changed: None,
            measured: None,
            weights: None,
            placed: Vec::new(),
            states: Vec::new(),
            splits: Vec::new(),
            finished: HashMap::new(),
        }
    }

    /// The same device, with the kernels of a changed module instead of those it has.
    pub fn with_changed(self, library: Library) -> SimDevice {
        SimDevice { changed: Some(library), ..self }
    }

    /// The same device, with other choices between kernels.
    pub fn with_tune(self, tune: Tune) -> SimDevice {
        SimDevice { target: self.target.with_tune(tune), ..self }
    }

    /// The same device, which notes what each launch moves instead of what is wrong with it.
    pub fn measuring(self, measured: Arc<Mutex<Vec<Measured>>>) -> SimDevice {
        SimDevice { measured: Some(measured), ..self }
    }

    fn kernel(&self, name: &str) -> Result<Kernel, String> {
        let changed = self.changed.as_ref().and_then(|library| library.kernel(name).ok());
        let mode = if self.run.checked { Mode::Checked } else { Mode::Fast };
        changed.map_or_else(|| kernel(name, mode), Ok)
    }

    fn failed(&self, reason: impl ToString) -> DeviceError {
        let device = self.target.caps().name.clone();
        DeviceError::Failed { device, reason: reason.to_string(), recent: Vec::new() }
    }

    fn memory(&self, bytes: usize) -> Result<Arc<Memory>, DeviceError> {
        Memory::alloc(bytes.next_multiple_of(256)).map_err(|error| self.failed(error))
    }
}

/// A split being run.
struct Running<'a> {
    device: &'a SimDevice,
    split: &'a Split,
    inputs: &'a Inputs,
    pools: &'a [Option<Pool>],
    arena: Arc<Memory>,
    staging: Arc<Memory>,
}

impl Running<'_> {
    fn value(&self, index: u32, value: ValueId) -> Result<Binding, DeviceError> {
        let graph = &self.split.graph;
        if let Some(input) = graph.values[value.0 as usize].input {
            let integers = self.integers(input);
            let bytes: Vec<u8> = integers.iter().flat_map(|i| i.to_le_bytes()).collect();
            let memory = self.device.memory(bytes.len())?;
            memory.write(0, &bytes);
            return Ok(Binding::Buffer { index, memory, offset: 0, length: bytes.len() });
        }
        let ty = graph.ty(value);
        let length = ty.rows.live(&self.inputs.counts()) * ty.row_bytes();
        let (memory, offset) = match self.split.memory.place(value) {
            Some(Place::Arena(offset)) => (self.arena.clone(), offset),
            Some(Place::Staging(offset)) => (self.staging.clone(), offset),
            None => return Err(self.device.failed(format!("value {} has no place", value.0))),
        };
        Ok(Binding::Buffer { index, memory, offset, length })
    }

    fn integers(&self, input: Input) -> Vec<i32> {
        let id = |token: &TokenInput| match token {
            TokenInput::Known(id) => *id as i32,
            TokenInput::From { .. } => -1,
        };
        let tokens: Vec<i32> = self.inputs.tokens.iter().map(id).collect();
        self.inputs.integers(input, &self.split.graph.tables.shape, &tokens)
    }

    fn slot(
        &self,
        index: u32,
        slot: &Slot,
        step: &minfer_plan::Step,
    ) -> Result<Binding, DeviceError> {
        let node = self.split.node(step);
        let whole = |memory: &Arc<Memory>| Binding::Buffer {
            index,
            memory: memory.clone(),
            offset: 0,
            length: memory.len(),
        };
        let pool = |id: minfer_graph::StateId| {
            let pool = self.pools[id.0 as usize].as_ref();
            pool.ok_or_else(|| self.device.failed("a state without pages"))
        };
        match slot {
            Slot::Input(at) => self.value(index, node.inputs[*at]),
            Slot::Output(at) => self.value(index, node.outputs[*at]),
            Slot::Keys(id) => Ok(whole(&pool(*id)?.keys)),
            Slot::Values(id) => Ok(whole(&pool(*id)?.values)),
            Slot::Constant(bytes) => Ok(Binding::Bytes { index, bytes: bytes.clone() }),
            Slot::Unused => Ok(Binding::Bytes { index, bytes: vec![0xFF; 16] }),
            Slot::Scratch(bytes) => {
                let (memory, length) = (self.arena.clone(), bytes.len());
                let offset = step.scratch.unwrap_or(0) + bytes.start;
                Ok(Binding::Buffer { index, memory, offset, length })
            }
            Slot::Weight(id) => {
                let placed = &self.device.placed[id.0 as usize];
                let memory = self.device.weights.clone();
                let memory = memory.ok_or_else(|| self.device.failed("no weights"))?;
                let (offset, length) = (placed.offset, placed.decl.bytes());
                Ok(Binding::Buffer { index, memory, offset, length })
            }
        }
    }

    fn dispatch(&self, dispatch: &Dispatch, step: &minfer_plan::Step) -> Result<(), DeviceError> {
        let rows = dispatch.grid.rows.live(&self.inputs.counts());
        if rows == 0 {
            return Ok(());
        }
        let kernel = self.device.kernel(&dispatch.kernel);
        let kernel = kernel.map_err(|error| self.device.failed(error))?;
        let mut bindings = Vec::new();
        for (index, slot) in (0..).zip(&dispatch.buffers) {
            bindings.push(self.slot(index, slot, step)?);
        }
        let index = dispatch.buffers.len() as u32;
        bindings.push(Binding::Bytes { index, bytes: dispatch.arguments.clone() });
        let live = (rows as u32).to_le_bytes().to_vec();
        bindings.push(Binding::Bytes { index: index + 1, bytes: live });
        let memory = dispatch.threadgroup_memory as usize;
        let launch = Launch {
            kernel,
            bindings,
            threadgroup_memory: if memory > 0 { vec![(0, memory)] } else { Vec::new() },
            grid: Grid::Threadgroups(dispatch.grid.threadgroups(rows)),
            threads_per_threadgroup: [dispatch.threads, 1, 1],
        };
        let measured = self.device.measured.as_ref();
        let watch = if measured.is_some() { Watch::Traffic } else { Watch::Mistakes };
        let simulator = Simulator { watch, ..simulator(self.device.run.seed) };
        let outcome = simulator.run(&launch);
        if let (Some(measured), [traffic]) = (measured, &outcome.traffic[..]) {
            measured.lock().expect("no test failed").push(Measured {
                layer: self.split.node(step).layer,
                dispatch: dispatch.clone(),
                touched: touched(self.split, step, dispatch),
                traffic: traffic.clone(),
            });
        }
        let reports: Vec<String> = outcome.reports.iter().map(ToString::to_string).collect();
        if reports.is_empty() {
            return Ok(());
        }
        Err(self.device.failed(reports.join("\n")))
    }
}

fn simulator(seed: u64) -> Simulator {
    Simulator { seed, ..Simulator::new(Profile::M1) }
}

impl Device for SimDevice {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn weights(
        &mut self,
        regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Vec<Layout>, DeviceError> {
        let [region] = regions else { return Err(self.failed("one region")) };
        let memory = self.memory(region.bytes().len())?;
        memory.write(0, region.bytes());
        self.weights = Some(memory);
        self.placed = weights.to_vec();
        Ok(vec![Layout::File; weights.len()])
    }

    fn state(&mut self, states: &[PlacedState]) -> Result<StateHandle, DeviceError> {
        let pool = |state: &PlacedState| match &state.decl {
            StateDecl::Paged { .. } => Ok(Some(Pool {
                keys: self.memory(state.pages * state.decl.key_page_bytes())?,
                values: self.memory(state.pages * state.decl.value_page_bytes())?,
            })),
            StateDecl::PerSequence { .. } => Ok(None),
        };
        let pools = states.iter().map(pool).collect::<Result<_, DeviceError>>()?;
        self.states.push(pools);
        Ok(StateHandle(self.states.len() as u32 - 1))
    }

    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError> {
        self.splits.push((split, state));
        Ok(LoadedSplit(self.splits.len() as u32 - 1))
    }

    fn submit(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        let (split, state) = self.splits[split.0 as usize].clone();
        let staging = self.memory(split.memory.staging_bytes)?;
        for (value, bytes) in split.imports.iter().zip(imports) {
            if let Some(Place::Staging(offset)) = split.memory.place(*value) {
                staging.write(offset, bytes);
            }
        }
        let running = Running {
            device: self,
            split: &split,
            inputs: &inputs,
            pools: &self.states[state.0 as usize],
            arena: self.memory(split.memory.arena_bytes)?,
            staging: staging.clone(),
        };
        for step in &split.steps {
            let node = split.node(step);
            let graph = &split.graph;
            let io = Io {
                inputs: &graph.types(&node.inputs),
                outputs: &graph.types(&node.outputs),
                tables: &graph.tables,
                layouts: &[],
            };
            let list = dispatches(&node.op, &io, &self.target);
            for dispatch in list.map_err(|refused| self.failed(refused))? {
                running.dispatch(&dispatch, step)?;
            }
        }
        let ticket = self.finished.len() as u64;
        self.finished.insert(ticket, Finished { split, inputs, staging: staging.read() });
        Ok(Ticket(ticket))
    }

    fn wait(&mut self, ticket: Ticket, _limit: &Limit<'_>) -> Result<Done, DeviceError> {
        Ok(Done { ticket: ticket.0, ..Done::default() })
    }

    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError> {
        let Finished { split, inputs, staging } = &self.finished[&done.ticket];
        let ty = split.graph.ty(value);
        let length = ty.rows.live(&inputs.counts()) * ty.row_bytes();
        match split.memory.place(value) {
            Some(Place::Staging(offset)) => Ok(&staging[offset..offset + length]),
            Some(Place::Arena(_)) | None => Err(self.failed("only exports can be read")),
        }
    }

    fn copy_page(
        &mut self,
        _state: StateHandle,
        _group: usize,
        _from: u32,
        _to: u32,
    ) -> Result<(), DeviceError> {
        Err(self.failed("no test copies pages"))
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}
