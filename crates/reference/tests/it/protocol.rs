//! The contract of the device: tickets, promised tokens, copies, limits, errors.

use std::cell::Cell;
use std::sync::Arc;

use minfer_graph::op::matmul::Matmul;
use minfer_graph::{Op, Rows, TensorType, Want, WeightDecl, WeightId};
use minfer_plan::{
    Device, DeviceError, Error, Io, Limit, LoadedSplit, Options, PlacedWeight, Region, Runner,
    StateHandle, Stop, Target, TokenInput,
};
use minfer_quant::{DType, KvType, Quant};
use minfer_reference::{Mode, Reference};

use crate::llama::{POOL_PAGES, Session, graph, known, prompt, shape};

fn session() -> Session {
    Session::new(Reference::new(Mode::Canonical), KvType::F16)
}

fn failure<T>(result: Result<T, Error>) -> DeviceError {
    match result {
        Err(Error::Device(error)) => error,
        Err(other) => panic!("expected a device error, found {other}"),
        Ok(_) => panic!("expected a device error, found a result"),
    }
}

#[test]
fn two_steps_are_in_flight_and_the_second_takes_its_token_from_the_first() {
    for mode in [Mode::Canonical, Mode::F64] {
        let mut one_by_one = Session::new(Reference::new(mode), KvType::F16);
        let runner = one_by_one.runner(16, Want::Argmax, &Options::default());
        let ticket = one_by_one.submit(&runner, &known(&prompt(10)), 0);
        let ids = one_by_one.wait(&runner, ticket).ids().expect("ids").to_vec();
        let ticket = one_by_one.submit(&runner, &known(&[ids[9] as u32]), 10);
        let expected = one_by_one.wait(&runner, ticket).ids().expect("ids").to_vec();

        let mut session = Session::new(Reference::new(mode), KvType::F16);
        let runner = session.runner(16, Want::Argmax, &Options::default());
        let first = session.submit(&runner, &known(&prompt(10)), 0);
        let promised = [TokenInput::From { ticket: first.id(), row: 9 }];
        let second = session.submit(&runner, &promised, 10);
        let shape = runner.program().graph.tables.shape;
        let third = Arc::new(session.inputs(&shape, &known(&[1]), 11));
        let refused = failure(runner.submit(&mut session.devices, third));
        assert!(matches!(refused, DeviceError::Busy { .. }), "{refused}");
        assert_eq!(session.wait(&runner, first).ids().expect("ids"), ids);
        assert_eq!(session.wait(&runner, second).ids().expect("ids"), expected);
    }
}

#[test]
fn waiting_for_the_later_step_runs_the_earlier_one_first() {
    let mut session = session();
    let runner = session.runner(16, Want::Logits, &Options::default());
    let tokens = prompt(12);
    let expected = session.logits(&runner, &tokens, 0);
    session.devices[0].recover().expect("nothing to bring back");
    let first = session.submit(&runner, &known(&tokens[..8]), 0);
    let second = session.submit(&runner, &known(&tokens[8..]), 8);
    let both = |logits: &[f32]| logits.to_vec();
    let later = both(session.wait(&runner, second).logits().expect("logits"));
    let earlier = both(session.wait(&runner, first).logits().expect("logits"));
    assert_eq!([earlier, later].concat(), expected);
}

#[test]
fn values_are_readable_until_the_next_submit_but_one() {
    let mut session = session();
    let runner = session.runner(4, Want::Logits, &Options::default());
    let logits = runner.program().outputs[0].value;
    let split = runner.program().splits[0].clone();
    let shape = runner.program().graph.tables.shape;
    let loaded = session.devices[0].load(split, session.states[0]).expect("a split of this device");
    let inputs = |session: &Session| Arc::new(session.inputs(&shape, &known(&[5, 6]), 0));
    let step = inputs(&session);
    let device = &mut session.devices[0];
    let submit = |device: &mut Box<dyn Device>| device.submit(loaded, step.clone(), &[]);
    let ticket = submit(device).expect("free");
    let first = device.wait(ticket, &Limit::NONE).expect("runs");
    assert_eq!(device.read(&first, logits).expect("just finished").len(), 2 * 96 * 4);
    let second = submit(device).expect("free");
    device.read(&first, logits).expect("still there after one more submit");
    let third = submit(device).expect("free");
    let gone = device.read(&first, logits).expect_err("its memory is the third's");
    assert!(matches!(gone, DeviceError::Unknown { what: "readable step", id: 0, .. }), "{gone}");
    let done = device.wait(third, &Limit::NONE).expect("runs");
    device.wait(second, &Limit::NONE).expect("has run");
    let inner = split_inner(&runner);
    let hidden = device.read(&done, inner).expect_err("a value of the arena");
    assert!(matches!(hidden, DeviceError::Unknown { what: "exported value", .. }), "{hidden}");
}

/// A value that lives in the arena.
fn split_inner(runner: &Runner) -> minfer_graph::ValueId {
    let split = &runner.program().splits[0];
    split.node(&split.steps[0]).outputs[0]
}

#[test]
fn a_page_copy_keeps_its_place_among_the_steps() {
    let tokens = prompt(20);
    let mut plain = session();
    let runner = plain.runner(32, Want::Logits, &Options::default());
    plain.logits(&runner, &tokens[..16], 0);
    let expected = plain.logits(&runner, &tokens[16..], 16);

    let mut session = session();
    let runner = session.runner(32, Want::Logits, &Options::default());
    let first = session.submit(&runner, &known(&tokens[..16]), 0);
    let (from, to) = (session.pages[0], 8);
    for group in 0..2 {
        session.devices[0]
            .copy_page(session.states[0], group, from, to)
            .expect("pages of the pool");
    }
    session.pages[0] = to;
    let second = session.submit(&runner, &known(&tokens[16..]), 16);
    session.wait(&runner, first);
    assert_eq!(session.wait(&runner, second).logits().expect("logits"), expected);
    let pages = POOL_PAGES as u32;
    let beyond =
        session.devices[0].copy_page(session.states[0], 0, 0, pages).expect_err("no such page");
    assert!(matches!(beyond, DeviceError::Unknown { what: "page", .. }), "{beyond}");
}

#[test]
fn work_stops_between_launches() {
    let mut session = session();
    let runner = session.runner(4, Want::Logits, &Options::default());
    let launches = runner.program().splits[0].steps.len();
    for (stop, after) in [(Stop::Cancelled, 0), (Stop::Deadline, 3)] {
        let asked = Cell::new(0);
        let ask = || {
            asked.set(asked.get() + 1);
            (asked.get() > after).then_some(stop)
        };
        let ticket = session.submit(&runner, &known(&[1, 2]), 0);
        let error = failure(runner.wait(&mut session.devices, ticket, &Limit { stop: &ask }));
        match (stop, &error) {
            (Stop::Cancelled, DeviceError::Cancelled) => {}
            (Stop::Deadline, DeviceError::Deadline { recent, .. }) => {
                assert_eq!(recent.len(), 3);
                assert!(recent[0].starts_with("embed"), "{recent:?}");
            }
            (Stop::Cancelled | Stop::Deadline, _) => panic!("{error}"),
        }
        assert_eq!(asked.get(), after + 1);
    }
    // The device goes on, and times launches when it is asked to.
    let shape = runner.program().graph.tables.shape;
    let mut inputs = session.inputs(&shape, &known(&[1, 2]), 0);
    inputs.profile = true;
    let ticket = runner.submit(&mut session.devices, Arc::new(inputs)).expect("free");
    let outputs = session.wait(&runner, ticket);
    let times = &outputs.done()[0].launches;
    assert_eq!(times.iter().map(|t| t.step).collect::<Vec<_>>(), (0..launches).collect::<Vec<_>>());
    assert!(times.iter().any(|t| t.nanoseconds > 0));
}

#[test]
fn recovering_drops_what_is_in_flight_and_zeroes_state() {
    let mut session = session();
    let runner = session.runner(16, Want::Logits, &Options::default());
    let tokens = prompt(9);
    let fresh = session.logits(&runner, &tokens[..1], 8);
    session.logits(&runner, &tokens, 0);
    assert_ne!(session.logits(&runner, &tokens[..1], 8), fresh, "the cache matters");
    let lost = session.submit(&runner, &known(&tokens), 0);
    session.devices[0].recover().expect("always");
    let error = failure(runner.wait(&mut session.devices, lost, &Limit::NONE));
    assert!(matches!(error, DeviceError::Unknown { what: "ticket", .. }), "{error}");
    assert_eq!(session.logits(&runner, &tokens[..1], 8), fresh);
}

#[test]
fn a_promise_that_nobody_keeps_is_an_error() {
    let mut session = session();
    let runner = session.runner(4, Want::Argmax, &Options::default());
    let ticket = session.submit(&runner, &[TokenInput::From { ticket: 99, row: 0 }], 0);
    let error = failure(runner.wait(&mut session.devices, ticket, &Limit::NONE));
    assert!(matches!(error, DeviceError::Unknown { what: "ids of ticket", id: 99, .. }), "{error}");
    let ticket = session.submit(&runner, &known(&[1]), 0);
    let beyond = TokenInput::From { ticket: ticket.id(), row: 1 };
    session.wait(&runner, ticket);
    let ticket = session.submit(&runner, &[beyond], 1);
    let error = failure(runner.wait(&mut session.devices, ticket, &Limit::NONE));
    assert!(matches!(error, DeviceError::Unknown { what: "ids of ticket", .. }), "{error}");
}

#[test]
fn weights_outside_their_region_are_refused() {
    let mut device = Reference::new(Mode::Canonical);
    let region = Region(Arc::new(vec![0_u8; 100]));
    let decl = WeightDecl { name: "w".into(), quant: Quant::F16, experts: 1, rows: 4, cols: 8 };
    let at = |region, offset, rows| {
        let decl = WeightDecl { rows, ..decl.clone() };
        [PlacedWeight { id: WeightId(0), decl, region, offset }]
    };
    device.weights(std::slice::from_ref(&region), &at(0, 36, 4)).expect("36 + 64 bytes");
    for bad in [at(0, 37, 4), at(1, 0, 4), at(0, usize::MAX, 4), at(0, 0, usize::MAX / 2)] {
        let error = device.weights(std::slice::from_ref(&region), &bad).expect_err("outside");
        assert!(matches!(error, DeviceError::Weight { .. }), "{error}");
    }
}

#[test]
fn handles_of_others_are_refused() {
    let mut session = session();
    let split = session.program(1, Want::Logits, &Options::default()).splits[0].clone();
    let device = &mut session.devices[0];
    let error = device.load(split.clone(), StateHandle(7)).expect_err("no such state");
    assert!(matches!(error, DeviceError::Unknown { what: "state", id: 7, .. }), "{error}");
    let inputs = Arc::default();
    let error = device.submit(LoadedSplit(3), inputs, &[]).expect_err("no such split");
    assert!(matches!(error, DeviceError::Unknown { what: "split", id: 3, .. }), "{error}");
    let mut bare = Reference::new(Mode::Canonical);
    let state = bare.state(&[]).expect("nothing to allocate");
    let error = bare.load(split, state).expect_err("no weights");
    assert!(matches!(error, DeviceError::Unknown { what: "registered weight", .. }), "{error}");
}

#[test]
fn operands_that_no_definition_multiplies_are_refused() {
    let device = Reference::new(Mode::Canonical);
    let graph = graph(shape(4, Want::Logits, KvType::F16)).expect("a graph");
    let find = |quant| {
        let index = graph.tables.weights.iter().position(|w| w.quant == quant && w.rows > 1);
        WeightId(index.expect("a weight of the format") as u32)
    };
    let lower = |quant, dtype| {
        let weight = find(quant);
        let op = Op::from(Matmul::new(weight, None));
        let decl = graph.tables.weight(weight);
        let inputs = [TensorType::new(dtype, Rows::TOKENS, decl.cols)];
        let outputs = [TensorType::f32(Rows::TOKENS, decl.rows)];
        let tables = &graph.tables;
        device.lower(&op, &Io { inputs: &inputs, outputs: &outputs, tables, layouts: &[] })
    };
    assert_eq!(lower(Quant::Q4_1, DType::Q8_0).expect("its operand").kernel, "reference.matmul");
    lower(Quant::Q4_1, DType::F32).expect("floats go with everything");
    lower(Quant::Q6_K, DType::Q8_K).expect("its operand");
    let error = lower(Quant::Q4_1, DType::Q8_K).expect_err("blocks of another size");
    assert_eq!(error.reason, "q4_1 weights take q8_0 activations, found q8_k");
    lower(Quant::F16, DType::Q8_0).expect_err("float weights");
    let op = Op::from(Matmul::new(WeightId(0), None));
    let floats = Reference::new(Mode::F64);
    for decl in graph.tables.weights.iter() {
        let expected = match decl.quant.block_len() {
            1 => DType::F32,
            32 => DType::Q8_0,
            _ => DType::Q8_K,
        };
        assert_eq!(device.operand(&op, decl), expected, "{}", decl.quant.name());
        assert_eq!(floats.operand(&op, decl), DType::F32);
    }
}
