//! The definitions as a device.
//!
//! Work happens in `wait`, in the order of submits: whatever was queued before the awaited step
//! runs first. Steps and page copies share one queue, so that a copy sees what the steps before it
//! stored.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use minfer_graph::{Counts, Op, OutputKind, ValueId, WeightDecl};
use minfer_plan::{
    Caps, Device, DeviceError, DeviceKind, Done, Inputs, Io, Launch, Layout, Limit, LoadedSplit,
    Place, PlacedState, PlacedWeight, Region, Split, StateHandle, Target, Ticket, TokenInput,
    Unsupported,
};
use minfer_quant::DType;

use crate::cache::Caches;
use crate::memory::{Apart, Buffer, Planned, first_column, import};
use crate::op::Env;
use crate::real::Mode;
use crate::run::{StepInputs, run};
use crate::weights::Weights;

/// Steps that may be in flight; also staging areas.
const IN_FLIGHT: usize = 2;

/// The executable definition of every op as a device.
#[derive(Debug)]
pub struct Reference {
    mode: Mode,
    caps: Caps,
    operands: bool,
    norm_matmul: bool,
    weights: Weights,
    states: Vec<Caches>,
    splits: Vec<(Arc<Split>, StateHandle)>,
    arena: Buffer,
    staging: [Staging; IN_FLIGHT],
    queue: VecDeque<Command>,
    finished: BTreeMap<u64, Result<Done, DeviceError>>,
    ids: BTreeMap<u64, Vec<i32>>,
    next: u64,
}

/// A staging area and the finished step whose values it holds.
#[derive(Debug, Default)]
struct Staging {
    buffer: Buffer,
    holds: Option<Held>,
}

#[derive(Debug)]
struct Held {
    ticket: u64,
    split: Arc<Split>,
    counts: Counts,
}

#[derive(Debug)]
enum Command {
    Step(Pending),
    CopyPage { state: usize, group: usize, from: usize, to: usize },
}

#[derive(Debug)]
struct Pending {
    ticket: u64,
    split: Arc<Split>,
    state: usize,
    inputs: Arc<Inputs>,
    imports: Vec<Vec<u8>>,
}

impl Reference {
    /// A device in `mode`. Canonical: quantized activations for quantized weights, `norm_matmul`
    /// refused, as a CPU has it. F64: activations in full, every op accepted.
    pub fn new(mode: Mode) -> Reference {
        let (name, canonical) = match mode {
            Mode::Canonical => ("reference (canonical)", true),
            Mode::F64 => ("reference (f64)", false),
        };
        let caps = Caps {
            kind: DeviceKind::Reference,
            name: name.to_string(),
            features: String::new(),
            memory_bytes: None,
            bytes_per_second: None,
            value_alignment: 64,
            weight_alignment: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            batch_invariant: true,
            overlaps: false,
        };
        Reference {
            mode,
            caps,
            operands: canonical,
            norm_matmul: !canonical,
            weights: Weights::default(),
            states: Vec::new(),
            splits: Vec::new(),
            arena: Buffer::default(),
            staging: Default::default(),
            queue: VecDeque::new(),
            finished: BTreeMap::new(),
            ids: BTreeMap::new(),
            next: 0,
        }
    }

    /// Whether quantized weights take quantized activations (as on CPUs) or f32 ones (as on GPUs).
    pub fn with_operands(self, operands: bool) -> Reference {
        Reference { operands, ..self }
    }

    /// Whether `norm_matmul`, which rounds otherwise than its parts, is accepted.
    pub fn with_norm_matmul(self, norm_matmul: bool) -> Reference {
        Reference { norm_matmul, ..self }
    }

    fn unknown(&self, what: &'static str, id: u64) -> DeviceError {
        DeviceError::Unknown { device: self.caps.name.clone(), what, id }
    }

    /// Checks what the interpreter relies on: the split's weights and states are those that were
    /// registered.
    fn check_known(&self, split: &Split, caches: &Caches) -> Result<(), DeviceError> {
        for step in &split.steps {
            let def = split.node(step).op.def();
            let tables = &split.graph.tables;
            let mut weights = def.weights().into_iter();
            if let Some(id) = weights.find(|&id| !self.weights.has(id, tables.weight(id))) {
                return Err(self.unknown("registered weight", u64::from(id.0)));
            }
            if let Some(id) = def.state().filter(|&id| !caches.has(id)) {
                return Err(self.unknown("paged state", u64::from(id.0)));
            }
        }
        Ok(())
    }

    /// Token ids of a step, those of earlier steps' outputs looked up.
    fn tokens(&self, inputs: &Inputs) -> Result<Vec<i32>, DeviceError> {
        let token = |token: &TokenInput| match *token {
            TokenInput::Known(id) => Ok(i32::try_from(id).unwrap_or(-1)),
            TokenInput::From { ticket, row } => self
                .ids
                .get(&ticket)
                .and_then(|ids| ids.get(row as usize))
                .copied()
                .ok_or_else(|| self.unknown("ids of ticket", ticket)),
        };
        inputs.tokens.iter().map(token).collect()
    }

    fn carry_out(&mut self, step: &Pending, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        let tokens = self.tokens(&step.inputs)?;
        let step_inputs = StepInputs { inputs: &step.inputs, tokens };
        let (split, counts) = (&*step.split, step.inputs.counts());
        let mut env = Env {
            weights: &self.weights,
            caches: &mut self.states[step.state],
            partials: split.graph.tables.shape.partials,
            threads: self.caps.threads,
        };
        let staging = &mut self.staging[slot(step.ticket)];
        import(split, staging.buffer.bytes_mut(), &step.imports);
        let name = &self.caps.name;
        let ids = ids_output(split);
        let (launches, ids) = match self.mode {
            Mode::Canonical => {
                let (arena, staging) = (self.arena.bytes_mut(), staging.buffer.bytes_mut());
                let mut values = Planned { split, counts, arena, staging };
                let times = run(name, split, &step_inputs, &mut values, &mut env, limit)?;
                (times, ids.map(|id| first_column(&values, id)))
            }
            Mode::F64 => {
                let staging = staging.buffer.bytes_mut();
                let mut values = Apart { split, counts, values: HashMap::new(), staging };
                let times = run(name, split, &step_inputs, &mut values, &mut env, limit)?;
                (times, ids.map(|id| first_column(&values, id)))
            }
        };
        staging.holds = Some(Held { ticket: step.ticket, split: step.split.clone(), counts });
        if let Some(ids) = ids {
            self.ids.insert(step.ticket, ids);
        }
        Ok(Done { ticket: step.ticket, launches, waited: 0 })
    }

    /// The reason why a matmul cannot multiply these operands.
    fn check_operands(op: &Op, io: &Io<'_>) -> Result<(), Unsupported> {
        for (index, ty) in io.inputs.iter().enumerate() {
            for id in op.matmul_weights(index) {
                let weight = io.tables.weight(id);
                if !weight.quant.takes(ty.dtype) {
                    return Err(Unsupported::because(format!(
                        "{} weights take {} activations, found {}",
                        weight.quant.name(),
                        weight.quant.activations().name(),
                        ty.dtype.name()
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The staging area of a ticket.
fn slot(ticket: u64) -> usize {
    (ticket % IN_FLIGHT as u64) as usize
}

/// The ids that a later step may take its tokens from.
fn ids_output(split: &Split) -> Option<ValueId> {
    let outputs = split.graph.outputs.iter();
    let ids = outputs.filter(|output| output.kind == OutputKind::Ids).map(|output| output.value);
    ids.into_iter().find(|id| split.exports.contains(id))
}

impl Target for Reference {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn operand(&self, op: &Op, weight: &WeightDecl) -> DType {
        if self.operands { op.activations(weight.quant) } else { DType::F32 }
    }

    fn lower(&self, op: &Op, io: &Io<'_>) -> Result<Launch, Unsupported> {
        if matches!(op, Op::NormMatmul(_)) && !self.norm_matmul {
            return Err(Unsupported::because(
                "norm_matmul rounds otherwise than its parts, and this device has a CPU's numbers",
            ));
        }
        Reference::check_operands(op, io)?;
        let name = op.kind().name();
        Ok(Launch::simple(format!("reference.{name}"), "the definition"))
    }
}

impl Device for Reference {
    fn target(&self) -> &dyn Target {
        self
    }

    fn weights(
        &mut self,
        regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Vec<Layout>, DeviceError> {
        self.weights = Weights::new(&self.caps.name, regions, weights)?;
        Ok(vec![Layout::File; weights.len()])
    }

    fn state(&mut self, states: &[PlacedState]) -> Result<StateHandle, DeviceError> {
        self.states.push(Caches::new(&self.caps.name, states)?);
        Ok(StateHandle(self.states.len() as u32 - 1))
    }

    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError> {
        let caches = self.states.get(state.0 as usize);
        let caches = caches.ok_or_else(|| self.unknown("state", u64::from(state.0)))?;
        self.check_known(&split, caches)?;
        if self.mode == Mode::Canonical {
            self.arena.grow(&self.caps.name, "the arena", split.memory.arena_bytes)?;
        }
        for staging in &mut self.staging {
            let bytes = split.memory.staging_bytes;
            staging.buffer.grow(&self.caps.name, "the staging area", bytes)?;
        }
        self.splits.push((split, state));
        Ok(LoadedSplit(self.splits.len() as u32 - 1))
    }

    fn submit(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        let loaded = self.splits.get(split.0 as usize);
        let (split, state) = loaded.ok_or_else(|| self.unknown("split", u64::from(split.0)))?;
        let pending = self.queue.iter().filter(|command| matches!(command, Command::Step(_)));
        if pending.count() >= IN_FLIGHT {
            return Err(DeviceError::Busy { device: self.caps.name.clone() });
        }
        debug_assert_eq!(imports.len(), split.imports.len());
        let ticket = self.next;
        self.next += 1;
        self.queue.push_back(Command::Step(Pending {
            ticket,
            split: split.clone(),
            state: state.0 as usize,
            inputs,
            imports: imports.iter().map(|bytes| bytes.to_vec()).collect(),
        }));
        // The step of two submits ago can no longer be read, nor one before it be waited for or
        // referred to.
        self.staging[slot(ticket)].holds = None;
        let oldest = ticket.saturating_sub(2 * IN_FLIGHT as u64);
        self.finished = self.finished.split_off(&oldest);
        self.ids = self.ids.split_off(&oldest);
        Ok(Ticket(ticket))
    }

    fn wait(&mut self, ticket: Ticket, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        let id = ticket.0;
        while !self.finished.contains_key(&id) {
            match self.queue.pop_front() {
                Some(Command::Step(step)) => {
                    let result = self.carry_out(&step, limit);
                    self.finished.insert(step.ticket, result);
                }
                Some(Command::CopyPage { state, group, from, to }) => {
                    self.states[state].copy_page(group, from, to);
                }
                None => return Err(self.unknown("ticket", id)),
            }
        }
        match self.finished.remove(&id) {
            Some(result) => result,
            None => Err(self.unknown("ticket", id)),
        }
    }

    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError> {
        let staging = &self.staging[slot(done.ticket)];
        let held = staging.holds.as_ref().filter(|held| held.ticket == done.ticket);
        let held = held.ok_or_else(|| self.unknown("readable step", done.ticket))?;
        match held.split.memory.place(value) {
            Some(Place::Staging(offset)) => {
                let ty = held.split.graph.ty(value);
                let bytes = ty.rows.live(&held.counts) * ty.row_bytes();
                Ok(&staging.buffer.bytes()[offset..offset + bytes])
            }
            Some(Place::Arena(_)) | None => Err(self.unknown("exported value", u64::from(value.0))),
        }
    }

    fn copy_page(
        &mut self,
        state: StateHandle,
        group: usize,
        from: u32,
        to: u32,
    ) -> Result<(), DeviceError> {
        let caches = self.states.get(state.0 as usize);
        let caches = caches.ok_or_else(|| self.unknown("state", u64::from(state.0)))?;
        let pages = caches.pages(group);
        if let Some(&page) = [from, to].iter().find(|&&page| page as usize >= pages) {
            return Err(self.unknown("page", u64::from(page)));
        }
        let (state, from, to) = (state.0 as usize, from as usize, to as usize);
        if self.queue.is_empty() {
            self.states[state].copy_page(group, from, to);
        } else {
            self.queue.push_back(Command::CopyPage { state, group, from, to });
        }
        Ok(())
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        self.queue.clear();
        self.finished.clear();
        self.ids.clear();
        for staging in &mut self.staging {
            staging.holds = None;
        }
        for caches in &mut self.states {
            caches.clear();
        }
        Ok(())
    }
}
