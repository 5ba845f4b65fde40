//! What the device promises beside its numbers: order, limits, errors, recovery.

use std::cell::Cell;
use std::sync::Arc;

use minfer_backend_cpu::{Cpu, CpuOptions, CpuTarget, Isa};
use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::embed::Embed;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::matmul::Matmul;
use minfer_graph::{Builder, Input, OutputKind, ValueId, WeightId};
use minfer_plan::{
    Device, DeviceError, Limit, LoadedSplit, Options, PlacedWeight, Region, Runner, StateHandle,
    Stop, Target, Ticket, TokenInput,
};
use minfer_quant::{DType, KvType, Quant};

use crate::harness::{Case, WeightList, shape};

/// Embedding, rows, head, argmax.
fn case() -> Case {
    let mut weights = WeightList::default();
    let table = weights.add(Quant::Q4_0, 1, 50, 64);
    let build = move |b: &mut Builder| {
        let ids = b.input(Input::Tokens);
        let x = b.push_one("embed", Embed { weight: table }, &[ids]).unwrap();
        let rows = b.input(Input::OutputRows);
        let x = b.push_one("rows", GetRows, &[x, rows]).unwrap();
        let x = b.push_one("head", Matmul::new(table, None), &[x]).unwrap();
        let ids = b.push_one("argmax", Argmax, &[x]).unwrap();
        b.output(OutputKind::Ids, ids);
        b.output(OutputKind::Logits, x);
    };
    Case { weights, states: Vec::new(), build: Box::new(build) }
}

fn cpu(threads: usize) -> Box<dyn Device> {
    Box::new(Cpu::new(CpuOptions { threads, isa: None }).unwrap())
}

struct Running {
    devices: Vec<Box<dyn Device>>,
    runner: Runner,
    case: Case,
}

/// The case loaded on one device.
fn running() -> Running {
    let case = case();
    let session = case.on(cpu(2));
    let program = session.program(shape(4, KvType::F16), &Options::default());
    let mut devices = session.into_devices();
    let runner = Runner::load(&mut devices, program, &[StateHandle(0)]).unwrap();
    Running { devices, runner, case }
}

impl Running {
    fn inputs(&self, tokens: &[TokenInput]) -> Arc<minfer_plan::Inputs> {
        let mut inputs = self.case.inputs(&shape(4, KvType::F16), 0, tokens.len(), 1);
        inputs.tokens = tokens.to_vec();
        inputs.output_rows = vec![0];
        Arc::new(inputs)
    }

    fn id(&mut self, token: TokenInput) -> i32 {
        let inputs = self.inputs(&[token]);
        let ticket = self.runner.submit(&mut self.devices, inputs).unwrap();
        self.runner.wait(&mut self.devices, ticket, &Limit::NONE).unwrap().ids().unwrap()[0]
    }
}

#[test]
fn two_steps_are_in_flight_and_the_second_reads_the_first() {
    let mut run = running();
    let first = run.id(TokenInput::Known(3));
    let expected = run.id(TokenInput::Known(first as u32));
    let one = run.inputs(&[TokenInput::Known(3)]);
    let one = run.runner.submit(&mut run.devices, one).unwrap();
    let two = run.inputs(&[TokenInput::From { ticket: one.id(), row: 0 }]);
    let two = run.runner.submit(&mut run.devices, two).unwrap();
    let third = run.inputs(&[TokenInput::Known(1)]);
    let error = run.runner.submit(&mut run.devices, third).unwrap_err();
    assert!(error.to_string().contains("two steps are in flight"), "{error}");
    // Waiting for the second alone runs the first before it.
    let outputs = run.runner.wait(&mut run.devices, two, &Limit::NONE).unwrap();
    assert_eq!(outputs.ids().unwrap(), [expected]);
    drop(outputs);
    let outputs = run.runner.wait(&mut run.devices, one, &Limit::NONE).unwrap();
    assert_eq!(outputs.ids().unwrap(), [first], "results stay until the next submit but one");
}

#[test]
fn a_token_of_an_unknown_step_is_an_error_and_the_device_lives_on() {
    let mut run = running();
    let inputs = run.inputs(&[TokenInput::From { ticket: 99, row: 0 }]);
    let ticket = run.runner.submit(&mut run.devices, inputs).unwrap();
    let error = run.runner.wait(&mut run.devices, ticket, &Limit::NONE).err().unwrap();
    assert!(error.to_string().contains("step 99"), "{error}");
    run.id(TokenInput::Known(1));
}

#[test]
fn limits_stop_a_step_and_name_its_launches() {
    let mut run = running();
    let asked = Cell::new(0);
    let stop = |reason: Stop| {
        asked.set(asked.get() + 1);
        (asked.get() > 3).then_some(reason)
    };
    for reason in [Stop::Deadline, Stop::Cancelled] {
        asked.set(0);
        let inputs = run.inputs(&[TokenInput::Known(1)]);
        let ticket = run.runner.submit(&mut run.devices, inputs).unwrap();
        let limit = Limit { stop: &|| stop(reason) };
        let error = run.runner.wait(&mut run.devices, ticket, &limit).err().unwrap().to_string();
        match reason {
            Stop::Deadline => assert!(error.contains("embed (embed.q4_0)"), "{error}"),
            Stop::Cancelled => assert_eq!(error, "cancelled"),
        }
    }
    let after = run.id(TokenInput::Known(1));
    assert!(after >= 0);
    run.devices[0].recover().unwrap();
    assert_eq!(run.id(TokenInput::Known(1)), after);
}

#[test]
fn a_profile_times_every_launch() {
    let mut run = running();
    let mut inputs = (*run.inputs(&[TokenInput::Known(1)])).clone();
    inputs.profile = true;
    let ticket = run.runner.submit(&mut run.devices, Arc::new(inputs)).unwrap();
    let outputs = run.runner.wait(&mut run.devices, ticket, &Limit::NONE).unwrap();
    let launches = &outputs.done()[0].launches;
    let steps = run.runner.program().splits[0].steps.len();
    assert_eq!(launches.iter().map(|l| l.step).collect::<Vec<_>>(), (0..steps).collect::<Vec<_>>());
}

#[test]
fn handles_that_the_device_did_not_give_are_errors() {
    let mut device = cpu(1);
    let unknown = |error: DeviceError| matches!(error, DeviceError::Unknown { .. });
    assert!(unknown(device.submit(LoadedSplit(0), Arc::default(), &[]).unwrap_err()));
    assert!(unknown(device.wait(Ticket(7), &Limit::NONE).unwrap_err()));
    assert!(unknown(device.copy_page(StateHandle(0), 0, 0, 0).unwrap_err()));
    assert!(unknown(device.read(&minfer_plan::Done::default(), ValueId(0)).unwrap_err()));
    let session = case().on(cpu(1)).program(shape(1, KvType::F16), &Options::default());
    let state = device.state(&[]).unwrap();
    let error = device.load(session.splits[0].clone(), state).unwrap_err();
    assert!(unknown(error), "its weights are not here");
}

#[test]
fn weights_must_lie_in_their_region() {
    let mut device = cpu(1);
    let case = case();
    let decl = case.weights.decls[0].clone();
    let bytes = decl.bytes();
    let region = Region(Arc::new(vec![0_u8; bytes + 1]));
    let place =
        |region, offset| PlacedWeight { id: WeightId(0), decl: decl.clone(), region, offset };
    for (region_index, offset, fits) in
        [(0, 0, true), (0, 1, true), (0, 2, false), (1, 0, false), (0, usize::MAX, false)]
    {
        let placed = [place(region_index, offset)];
        assert_eq!(device.weights(std::slice::from_ref(&region), &placed).is_ok(), fits);
    }
}

#[test]
fn a_target_is_a_plain_value() {
    let target = CpuTarget::new("some processor", Isa::Avx2, 16);
    assert_eq!(target.caps().threads, 16);
    assert!(target.caps().batch_invariant);
    let mut weights = WeightList::default();
    weights.add(Quant::Q4_K, 1, 2, 256);
    let op = Matmul::new(WeightId(0), None).into();
    assert_eq!(target.operand(&op, &weights.decls[0]), DType::Q8_K);
    // Its plans do not depend on the machine they are made on.
    let scalar = CpuTarget::new("some processor", Isa::Scalar, 16);
    let graph = case().graph(shape(4, KvType::F16));
    let plan = |target: &dyn Target| {
        let planned = minfer_plan::Planned { target, layouts: &[] };
        let placement = minfer_plan::Placement::whole(minfer_plan::TargetId(0), 0);
        let program = minfer_plan::plan(&graph, &[planned], &placement, &Options::default());
        program.unwrap().dump_launches()
    };
    assert_eq!(plan(&target), plan(&scalar));
    assert!(plan(&target).contains("matmul.q4_0.q8_0"));
}
