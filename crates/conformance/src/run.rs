//! Running cases on a device and judging the results.

use std::sync::Arc;

use minfer_graph::{Graph, Rows, StateId, TensorType, Value, ValueId, WeightId};
use minfer_plan::{
    Device, DeviceError, Error, Limit, PlacedState, PlacedWeight, Planned, Region, single_split,
};
use minfer_quant::DType;
use minfer_reference::{Mode, Reference};

use crate::case::{Case, CaseStep};
use crate::compare::{Tolerance, compare};

/// Makes a fresh device for each case.
pub type MakeDevice<'a> = &'a dyn Fn() -> Box<dyn Device>;

/// Results of a case: for each step and result, its bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The device ran it.
    Ran(Vec<Vec<(TensorType, Vec<u8>)>>),
    /// The device refuses the op, with its reason.
    Unsupported(String),
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It gave what it should.
    Passed,
    /// The device refuses it.
    Unsupported(String),
    /// It did not; the text says where.
    Failed(String),
}

/// Elements of a guard value: more than any vector register holds.
const GUARD: usize = 32;

/// Bytes around weights; they read as NaN in every float format.
const WEIGHT_PAD: usize = 256;

/// Runs a case on a device, whose splits loaded before are not to be run any more.
pub fn run(case: &Case, device: &mut dyn Device) -> Result<Outcome, Error> {
    let (region, weights) = place_weights(case);
    device.weights(&[region], &weights)?;
    let states: Vec<PlacedState> = case
        .states
        .iter()
        .enumerate()
        .map(|(i, decl)| PlacedState {
            id: StateId(i as u32),
            decl: decl.clone(),
            pages: case.pages,
        })
        .collect();
    let state = device.state(&states)?;
    let mut results = Vec::new();
    for step in &case.steps {
        let guarded = Guarded::new(step);
        let planned = Planned { target: device.target(), layouts: &[] };
        let split = single_split(
            guarded.graph,
            guarded.imports.iter().map(|(id, _)| *id).collect(),
            guarded.imports.iter().map(|(id, _)| *id).collect(),
            planned,
        );
        let split = match split {
            Err(Error::Unsupported { reason, .. }) => return Ok(Outcome::Unsupported(reason)),
            split => Arc::new(split?),
        };
        let loaded = device.load(split, state)?;
        let imports: Vec<&[u8]> = guarded.imports.iter().map(|(_, b)| b.as_slice()).collect();
        let ticket = device.submit(loaded, step.inputs.clone(), &imports)?;
        let done = device.wait(ticket, &Limit::NONE)?;
        for (id, before) in guarded.imports.iter().filter(|(id, _)| guarded.guards.contains(id)) {
            if device.read(&done, *id)? != before.as_slice() {
                return Err(overrun(device, id.0));
            }
        }
        let read = step.results.iter().map(|&id| {
            let ty = step.graph.ty(id);
            Ok((ty, device.read(&done, id)?.to_vec()))
        });
        results.push(read.collect::<Result<_, DeviceError>>()?);
    }
    Ok(Outcome::Ran(results))
}

fn overrun(device: &dyn Device, guard: u32) -> Error {
    let device = device.target().caps().name.clone();
    let reason = format!("a kernel wrote over guard value {guard}");
    DeviceError::Failed { device, reason, recent: vec![] }.into()
}

/// One region with the weights between padding.
pub(crate) fn place_weights(case: &Case) -> (Region, Vec<PlacedWeight>) {
    let mut bytes = vec![0xFF; WEIGHT_PAD];
    let mut placed = Vec::new();
    for (index, (decl, data)) in case.weights.iter().enumerate() {
        let id = WeightId(index as u32);
        placed.push(PlacedWeight { id, decl: decl.clone(), region: 0, offset: bytes.len() });
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(32) + WEIGHT_PAD, 0xFF);
    }
    (Region(Arc::new(bytes)), placed)
}

/// A step's graph with guard values between its operands and results in the staging area. Results
/// are imported too, filled with bytes that read as NaN, so that an element that is not written
/// shows.
struct Guarded {
    graph: Graph,
    imports: Vec<(ValueId, Vec<u8>)>,
    guards: Vec<ValueId>,
}

impl Guarded {
    fn new(step: &CaseStep) -> Guarded {
        let counts = step.inputs.counts();
        let mut guarded = Guarded { graph: step.graph.clone(), imports: vec![], guards: vec![] };
        guarded.guard();
        for (id, bytes) in &step.operands {
            guarded.imports.push((*id, bytes.clone()));
            guarded.guard();
        }
        for &id in &step.results {
            let ty = step.graph.ty(id);
            let bytes = vec![0xFF; ty.rows.live(&counts) * ty.row_bytes()];
            guarded.imports.push((id, bytes));
            guarded.guard();
        }
        guarded
    }

    fn guard(&mut self) {
        let ty = TensorType::new(DType::I32, Rows::Fixed(1), GUARD);
        self.graph.values.push(Value { ty, input: None });
        let id = ValueId(self.graph.values.len() as u32 - 1);
        self.imports.push((id, vec![0xA5; GUARD * 4]));
        self.guards.push(id);
    }
}

/// Runs a case on the device and on the reference, and judges: the same bits as canonical mode
/// where the device is to have them, else within the case's tolerance of f64.
pub fn check(case: &Case, make: MakeDevice<'_>, exact: bool) -> Verdict {
    judge(case, run(case, make().as_mut()), exact)
}

/// Judges what a run of the case on a device gave; see [`check`].
pub fn judge(case: &Case, found: Result<Outcome, Error>, exact: bool) -> Verdict {
    let found = match found {
        Ok(Outcome::Ran(found)) => found,
        Ok(Outcome::Unsupported(reason)) => return Verdict::Unsupported(reason),
        Err(error) => return Verdict::Failed(format!("{}: {error}", case.name)),
    };
    let mode = if exact { Mode::Canonical } else { Mode::F64 };
    let expected = match run(case, &mut Reference::new(mode)) {
        Ok(Outcome::Ran(expected)) => expected,
        Ok(Outcome::Unsupported(reason)) => {
            return Verdict::Failed(format!("{}: the reference refuses it: {reason}", case.name));
        }
        Err(error) => return Verdict::Failed(format!("{}: reference: {error}", case.name)),
    };
    let tolerance = if exact { Tolerance::Exact } else { case.tolerance };
    for (step, (expected, found)) in expected.iter().zip(&found).enumerate() {
        for (result, ((ty, expected), (_, found))) in expected.iter().zip(found).enumerate() {
            if let Some(text) = differ(*ty, expected, found, tolerance) {
                let place = format!("step {step} result {result}");
                return Verdict::Failed(format!("{}: {place}: {text}", case.name));
            }
        }
    }
    Verdict::Passed
}

/// How two results of one type differ. Quantized rows are compared byte for byte in exact mode
/// only: their integers may step where a float differs by its last bit.
fn differ(ty: TensorType, expected: &[u8], found: &[u8], tolerance: Tolerance) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!("expected {} bytes, found {}", expected.len(), found.len()));
    }
    if ty.dtype == DType::F32 {
        let difference = compare(&floats(expected), &floats(found), tolerance)?;
        return Some(format!(
            "element {} (row {}, column {}): expected {:e}, found {:e}, allowed {:e}",
            difference.index,
            difference.index / ty.cols.max(1),
            difference.index % ty.cols.max(1),
            difference.expected,
            difference.found,
            difference.allowed
        ));
    }
    let comparable = tolerance == Tolerance::Exact || ty.dtype == DType::I32;
    let place = expected.iter().zip(found).position(|(a, b)| a != b).filter(|_| comparable)?;
    Some(format!("byte {place}: expected {}, found {}", expected[place], found[place]))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// Runs all cases whose name contains `filter`; gives each case's name and verdict.
pub fn check_all(make: MakeDevice<'_>, exact: bool, filter: &str) -> Vec<(String, Verdict)> {
    crate::ops::all()
        .into_iter()
        .filter(|case| case.name.contains(filter))
        .map(|case| {
            let verdict = check(&case, make, exact);
            (case.name, verdict)
        })
        .collect()
}
