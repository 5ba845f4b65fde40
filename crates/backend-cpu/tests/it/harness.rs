//! Runs one graph on several devices.

use std::sync::Arc;

use minfer_backend_cpu::{Cpu, CpuOptions, Isa};
use minfer_graph::{
    Builder, Graph, KvTypes, StateDecl, StateId, StepShape, Want, WeightDecl, WeightId,
};
use minfer_plan::{
    Device, FUSIONS, Fusion, GroupInputs, Inputs, Limit, Options, PlacedState, PlacedWeight,
    Placement, Planned, Program, Region, Runner, SequenceRows, StateHandle, TargetId, TokenInput,
    attention_work, plan, work_capacity,
};
use minfer_quant::{KvType, Quant};
use minfer_reference::{Mode, Reference};

/// A small generator of numbers, the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// From -1 to 1.
    pub fn float(&mut self) -> f32 {
        (self.next() % 20_001) as f32 / 10_000.0 - 1.0
    }
}

/// Weights of a graph to be, and their bytes.
#[derive(Default)]
pub struct WeightList {
    pub decls: Vec<WeightDecl>,
    placed: Vec<usize>,
    bytes: Vec<u8>,
}

impl WeightList {
    /// Adds random weights; a format without an encoder gets random bits with sound scales.
    pub fn add(&mut self, quant: Quant, experts: usize, rows: usize, cols: usize) -> WeightId {
        let id = self.decls.len();
        let mut random = Random(id as u64 * 77 + 5);
        let mut values: Vec<f32> =
            (0..experts * rows * cols).map(|_| random.float() / 8.0).collect();
        if rows == 1 {
            values.iter_mut().for_each(|x| *x += 1.0);
        }
        let mut bytes = vec![0; quant.row_bytes(values.len()).unwrap()];
        if quant.can_encode() {
            quant.encode(&values, &mut bytes).unwrap();
        } else {
            bytes.iter_mut().for_each(|byte| *byte = random.next() as u8);
            for block in bytes.chunks_mut(quant.block_bytes()) {
                if quant == Quant::MXFP4 {
                    block[0] = 120 + block[0] % 8;
                } else {
                    block[1] = 0x1c;
                }
            }
        }
        // Formats do not ask for alignment: an odd offset now and then.
        self.bytes.resize(self.bytes.len() + id % 3, 0xee);
        self.placed.push(self.bytes.len());
        self.bytes.extend(bytes);
        let name = format!("w{id}");
        self.decls.push(WeightDecl { name, quant, experts, rows, cols });
        WeightId(id as u32)
    }

    fn place(&self, device: &mut dyn Device) {
        let region = Region(Arc::new(self.bytes.clone()));
        let weights = self.decls.iter().zip(&self.placed).enumerate();
        let placed: Vec<PlacedWeight> = weights
            .map(|(id, (decl, offset))| PlacedWeight {
                id: WeightId(id as u32),
                decl: decl.clone(),
                region: 0,
                offset: *offset,
            })
            .collect();
        device.weights(&[region], &placed).unwrap();
    }
}

/// Pages of the test's context.
pub const PAGES: usize = 40;

/// A step's shape of so many tokens for one sequence.
pub fn shape(tokens: usize, kv: KvType) -> StepShape {
    StepShape {
        tokens,
        outputs: tokens.min(8),
        want: Want::Logits,
        kind: minfer_graph::StepKind::Mixed,
        kv: KvTypes { key: kv, value: kv },
        sequences: 2,
        pages: PAGES,
        work: work_capacity(tokens, 2, 16),
        partials: 16,
    }
}

/// A model for tests.
pub struct Case {
    pub weights: WeightList,
    pub states: Vec<StateDecl>,
    /// Writes the graph.
    pub build: Box<dyn Fn(&mut Builder)>,
}

impl Case {
    pub fn graph(&self, shape: StepShape) -> Graph {
        let weights = self.weights.decls.clone().into();
        let mut builder = Builder::new(weights, self.states.clone().into(), shape);
        (self.build)(&mut builder);
        builder.finish().unwrap()
    }

    /// The case on one device.
    pub fn on(&self, device: Box<dyn Device>) -> Session<'_> {
        let mut devices = vec![device];
        self.weights.place(&mut *devices[0]);
        let states = self.states.iter().enumerate();
        let placed: Vec<PlacedState> = states
            .map(|(id, decl)| PlacedState {
                id: StateId(id as u32),
                decl: decl.clone(),
                pages: PAGES + 1,
            })
            .collect();
        let state = devices[0].state(&placed).unwrap();
        Session { case: self, devices, state }
    }

    fn windows(&self) -> Vec<Option<usize>> {
        let mut windows = Vec::new();
        for state in &self.states {
            let StateDecl::Paged { group, window, .. } = state else { continue };
            if *group == windows.len() {
                windows.push(*window);
            }
        }
        windows
    }

    /// Inputs of tokens of one sequence from `position` on, whose pages lie in falling order.
    pub fn inputs(&self, shape: &StepShape, position: usize, tokens: usize, rows: usize) -> Inputs {
        let sequence = SequenceRows { row: 0, rows: tokens, sequence: 1, position };
        let page = |i: usize| (PAGES - i) as i32;
        let mut pages = vec![0; PAGES];
        pages.extend((0..PAGES).map(page));
        let slot = |p: usize| page(p / 32) * 32 + (p % 32) as i32;
        let groups = self.windows().into_iter().map(|window| GroupInputs {
            slots: (position..position + tokens).map(slot).collect(),
            pages: pages.clone(),
            work: attention_work(&[sequence], window, shape),
        });
        Inputs {
            tokens: (position..position + tokens)
                .map(|p| TokenInput::Known((p * 7 % 50) as u32))
                .collect(),
            positions: (position as i32..(position + tokens) as i32).collect(),
            output_rows: (0..rows).map(|i| ((i * 5 + 3) % tokens) as i32).collect(),
            groups: groups.collect(),
            profile: false,
        }
    }
}

/// A case on a device, with its state.
pub struct Session<'a> {
    case: &'a Case,
    devices: Vec<Box<dyn Device>>,
    state: StateHandle,
}

/// Bytes of each exported value, with a name for messages.
pub type Values = Vec<(String, Vec<u8>)>;

impl Session<'_> {
    pub fn into_devices(self) -> Vec<Box<dyn Device>> {
        self.devices
    }

    pub fn program(&self, shape: StepShape, options: &Options) -> Arc<Program> {
        let graph = self.case.graph(shape);
        let planned = Planned { target: self.devices[0].target(), layouts: &[] };
        let layers = graph.nodes.iter().filter_map(|node| node.layer).max().map_or(0, |l| l + 1);
        let placement = Placement::whole(TargetId(0), layers);
        Arc::new(plan(&graph, &[planned], &placement, options).unwrap())
    }

    /// Runs one step and gives all that it exports.
    pub fn step(&mut self, program: &Arc<Program>, inputs: Inputs) -> Values {
        let runner = Runner::load(&mut self.devices, program.clone(), &[self.state]).unwrap();
        let ticket = runner.submit(&mut self.devices, Arc::new(inputs)).unwrap();
        let outputs = runner.wait(&mut self.devices, ticket, &Limit::NONE).unwrap();
        let exports = program.splits.iter().flat_map(|split| split.exports.iter().copied());
        let name = |value| {
            let by = |node: &&minfer_graph::Node| node.outputs.contains(&value);
            let node = program.graph.nodes.iter().find(by);
            format!("value {} of {}", value.0, node.map_or("", |node| node.name.as_str()))
        };
        exports.map(|value| (name(value), outputs.value(value).unwrap().to_vec())).collect()
    }
}

pub fn reference() -> Box<dyn Device> {
    Box::new(Reference::new(Mode::Canonical))
}

/// Every instruction set that is here, with some number of threads.
pub fn devices() -> Vec<(String, Box<dyn Device>)> {
    let sets = Isa::ALL.iter().filter(|isa| isa.is_here());
    sets.zip([2, 3]).map(|(isa, threads)| device(*isa, threads)).collect()
}

/// A device with its name.
pub fn device(isa: Isa, threads: usize) -> (String, Box<dyn Device>) {
    let device = Cpu::new(CpuOptions { threads, isa: Some(isa) }).unwrap();
    (format!("{} × {threads}", isa.name()), Box::new(device))
}

/// Fails unless both hold the same f32 (NaN for NaN, zero for zero) or the same bytes.
#[track_caller]
pub fn assert_same(expected: &Values, found: &Values, what: &str) {
    assert_eq!(expected.len(), found.len(), "{what}");
    for ((name, a), (_, b)) in expected.iter().zip(found) {
        assert_eq!(a.len(), b.len(), "{what}: {name}");
        for (i, (a, b)) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0).enumerate() {
            let (x, y) = (f32::from_ne_bytes(*a), f32::from_ne_bytes(*b));
            let same = a == b || (x.is_nan() && y.is_nan()) || (x == 0.0 && y == 0.0);
            assert!(same, "{what}: {name}, element {i}: {x} and {y}");
        }
    }
}

/// Runs steps of so many tokens, each (position, tokens), on all devices and compares every value
/// with the reference's; then again without keeping values, so that memory is shared and ops work
/// in place.
pub fn check(case: &Case, kv: KvType, exact: bool, steps: &[(usize, usize)]) {
    check_on(devices, case, kv, exact, steps);
}

/// The same on given devices.
pub fn check_on(
    devices: impl Fn() -> Vec<(String, Box<dyn Device>)>,
    case: &Case,
    kv: KvType,
    exact: bool,
    steps: &[(usize, usize)],
) {
    // Those that the device takes: the others would leave other values to compare.
    let taken = [Fusion::Glu, Fusion::NormQuantize, Fusion::AddNorm, Fusion::GluQuantize];
    let fusions: Vec<Fusion> = FUSIONS.iter().copied().filter(|f| taken.contains(f)).collect();
    for keep_all in [true, false] {
        let options = Options { exact, keep_all, fusions: fusions.clone() };
        let mut expected = Vec::new();
        let mut session = case.on(reference());
        for (position, tokens) in steps {
            let shape = shape(*tokens, kv);
            let inputs = case.inputs(&shape, *position, *tokens, (*tokens).min(8));
            let program = session.program(shape, &options);
            expected.push(session.step(&program, inputs));
        }
        for (name, device) in devices() {
            let mut session = case.on(device);
            for ((position, tokens), expected) in steps.iter().zip(&expected) {
                // A bucket that the step does not fill.
                let shape = shape(tokens + 3, kv);
                let inputs = case.inputs(&shape, *position, *tokens, (*tokens).min(8));
                let program = session.program(shape, &options);
                let found = session.step(&program, inputs);
                assert_same(expected, &found, &format!("{name}, {tokens} tokens at {position}"));
            }
        }
    }
}
