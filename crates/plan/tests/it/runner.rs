//! The runner: the order of its calls, what crosses, and what becomes of failures.

use std::sync::Arc;

use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::scale::Scale;
use minfer_graph::{Graph, OutputKind, ValueId};
use minfer_plan::{
    Device, Error, Inputs, Limit, Options, Planned, Program, Runner, StateHandle, Stop, TokenInput,
    plan,
};

use crate::device::{Fake, Fault, Log};
use crate::target::*;
use crate::world::*;

/// Two layers; logits and their best.
fn graph() -> Graph {
    let mut b = builder();
    let mut x = embed(&mut b);
    for layer in 0..2 {
        b.layer(Some(layer));
        x = b.push_one(format!("layer {layer}"), Scale { factor: 2.0 }, &[x]).unwrap();
    }
    b.layer(None);
    let logits = b.push_one("end", Scale { factor: 1.0 }, &[x]).unwrap();
    let best = b.push_one("best", Argmax, &[logits]).unwrap();
    b.output(OutputKind::Logits, logits);
    b.output(OutputKind::Ids, best);
    b.finish().unwrap()
}

/// The first layer's result, which crosses when the second is elsewhere.
const CROSSING: ValueId = ValueId(2);

fn program(layers: &[u32]) -> Arc<Program> {
    let targets = [Switches::new("a"), Switches::new("b")];
    let planned = [0, 1].map(|i| Planned { target: &targets[i], layouts: &[] });
    Arc::new(plan(&graph(), &planned, &placement(layers), &Options::default()).unwrap())
}

fn inputs(tokens: usize) -> Arc<Inputs> {
    Arc::new(Inputs { tokens: vec![TokenInput::Known(1); tokens], ..Inputs::default() })
}

fn devices(log: &Log, faults: [Fault; 2]) -> Vec<Box<dyn Device>> {
    let [a, b] = faults;
    vec![Fake::boxed("a", log, a), Fake::boxed("b", log, b)]
}

const STATES: [StateHandle; 2] = [StateHandle(7), StateHandle(8)];

/// Loads, submits and waits; gives bytes of logits and number of ids, or the error.
fn run(faults: [Fault; 2], layers: &[u32], limit: &Limit<'_>) -> (Result<(), Error>, Vec<String>) {
    let log = Log::default();
    let mut devices = devices(&log, faults);
    let mut all = || {
        let runner = Runner::load(&mut devices, program(layers), &STATES)?;
        let ticket = runner.submit(&mut devices, inputs(3))?;
        let outputs = runner.wait(&mut devices, ticket, limit)?;
        assert_eq!(outputs.counts().tokens, 3);
        assert_eq!(outputs.done().len(), runner.program().splits.len());
        assert_eq!(outputs.logits()?.len(), 3 * 256);
        assert_eq!(outputs.ids()?.len(), 3);
        Ok(())
    };
    let result = all();
    let log = log.lock().unwrap().clone();
    (result, log)
}

#[test]
fn splits_run_in_order_and_imports_follow() {
    let (result, log) = run([Fault::None; 2], &[0, 1], &Limit::NONE);
    result.unwrap();
    // Three rows of 256 f32.
    assert_eq!(
        log,
        [
            "a load 2 steps, state 7",
            "b load 3 steps, state 8",
            "a submit 0 imports []",
            "a wait 1",
            "b submit 0 imports [3072]",
            "b wait 1",
        ]
    );
    let (result, log) = run([Fault::None; 2], &[1, 1], &Limit::NONE);
    result.unwrap();
    assert_eq!(log, ["b load 5 steps, state 8", "b submit 0 imports []", "b wait 1"]);
}

#[test]
fn a_program_may_come_back_to_a_device() {
    let log = Log::default();
    let mut devices = devices(&log, [Fault::None; 2]);
    let placement = minfer_plan::Placement { head: minfer_plan::TargetId(0), ..placement(&[0, 1]) };
    let targets = [Switches::new("a"), Switches::new("b")];
    let planned = [0, 1].map(|i| Planned { target: &targets[i], layouts: &[] });
    let program = plan(&graph(), &planned, &placement, &Options::default()).unwrap();
    let runner = Runner::load(&mut devices, Arc::new(program), &STATES).unwrap();
    let ticket = runner.submit(&mut devices, inputs(1)).unwrap();
    assert_eq!(ticket.id(), 1);
    let outputs = runner.wait(&mut devices, ticket, &Limit::NONE).unwrap();
    assert_eq!(outputs.logits().unwrap().len(), 256);
    assert_eq!(outputs.value(CROSSING).unwrap().len(), 1024);
    assert_eq!(
        log.lock().unwrap()[3..],
        [
            "a submit 0 imports []",
            "a wait 1",
            "b submit 0 imports [1024]",
            "b wait 1",
            "a submit 1 imports [1024]",
            "a wait 2",
        ]
    );
}

#[test]
fn a_value_of_the_wrong_size_does_not_cross() {
    for (more, found) in [(4, 3076), (-4, 3068), (-3072, 0)] {
        let (result, log) = run([Fault::Size(more), Fault::None], &[0, 1], &Limit::NONE);
        match result.unwrap_err() {
            Error::Boundary { value, target, expected, found: size } => {
                assert_eq!((value, expected, size), (CROSSING.0, 3072, found));
                assert_eq!(target, "b");
            }
            other => panic!("{other:?}"),
        }
        assert!(!log.iter().any(|line| line.starts_with("b submit")), "{log:?}");
    }
}

#[test]
fn results_of_the_wrong_size_do_not_reach_the_host() {
    let (result, _) = run([Fault::None, Fault::Size(1024)], &[0, 1], &Limit::NONE);
    let text = "value 4 crosses to the host: expected 3072 bytes for the step's rows, found 4096";
    assert_eq!(result.unwrap_err().to_string(), text);
}

#[test]
fn failures_come_through_with_the_device_s_words() {
    let place = |fault| {
        let (result, log) = run([Fault::None, fault], &[0, 1], &Limit::NONE);
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Device(_)), "{error:?}");
        let text = format!("b: {fault:?} was to fail; last launches: ");
        assert_eq!(error.to_string(), text);
        log.last().unwrap().clone()
    };
    assert_eq!(place(Fault::Load), "a load 2 steps, state 7");
    assert_eq!(place(Fault::Submit), "a wait 1");
    assert_eq!(place(Fault::Wait), "b submit 0 imports [3072]");
    assert_eq!(place(Fault::Read), "b wait 1");
    let (result, log) = run([Fault::Wait, Fault::None], &[0, 1], &Limit::NONE);
    assert!(result.is_err());
    assert_eq!(log.last().unwrap(), "a submit 0 imports []");
}

#[test]
fn the_limit_reaches_the_device() {
    let limit = Limit { stop: &|| Some(Stop::Cancelled) };
    let (result, _) = run([Fault::None; 2], &[0, 1], &limit);
    assert_eq!(result.unwrap_err().to_string(), "cancelled");
}

#[test]
fn what_a_program_does_not_give_is_an_error() {
    let log = Log::default();
    let mut devices = devices(&log, [Fault::None; 2]);
    let runner = Runner::load(&mut devices, program(&[0, 0]), &STATES).unwrap();
    let ticket = runner.submit(&mut devices, inputs(2)).unwrap();
    let outputs = runner.wait(&mut devices, ticket, &Limit::NONE).unwrap();
    let error = outputs.id_logits().unwrap_err();
    assert_eq!(error.to_string(), "program: no such output of this program: 2");
    let error = outputs.value(CROSSING).unwrap_err();
    assert_eq!(error.to_string(), "program: no such exported value: 2");
}

#[test]
fn a_program_without_nodes_does_not_start() {
    let empty = builder().finish().unwrap();
    let program = plan_whole(&empty, &Switches::new("a"), &Options::default()).unwrap();
    let mut devices = devices(&Log::default(), [Fault::None; 2]);
    let runner = Runner::load(&mut devices, Arc::new(program), &STATES).unwrap();
    let error = runner.submit(&mut devices, inputs(1)).unwrap_err();
    assert_eq!(error.to_string(), "program: no such split: 0");
}
