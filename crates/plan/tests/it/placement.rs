//! Which target runs what, and what crosses between them.

use minfer_graph::op::scale::Scale;
use minfer_graph::{Graph, OutputKind, StateId, ValueId};
use minfer_plan::{Error, Options, Place, Placement, Planned, TargetId, plan, single_split};

use crate::simulate;
use crate::target::*;
use crate::world::*;

/// An end, three layers of one scale each, an end; the first layer's result is read by the third.
fn graph() -> Graph {
    let mut b = builder();
    let x = embed(&mut b);
    b.layer(Some(0));
    let first = b.push_one("first", Scale { factor: 1.0 }, &[x]).unwrap();
    b.layer(Some(1));
    let second = b.push_one("second", Scale { factor: 2.0 }, &[first]).unwrap();
    b.layer(Some(2));
    let third = b.push_one("third", minfer_graph::op::add::Add, &[second, first]).unwrap();
    b.layer(None);
    let end = b.push_one("end", Scale { factor: 4.0 }, &[third]).unwrap();
    b.output(OutputKind::Logits, end);
    b.finish().unwrap()
}

const X: ValueId = ValueId(1);
const FIRST: ValueId = ValueId(2);
const SECOND: ValueId = ValueId(3);
const END: ValueId = ValueId(5);

#[test]
fn one_target_is_one_split() {
    let program = plan_whole(&graph(), &Switches::new("a"), &Options::default()).unwrap();
    let [split] = program.splits.as_slice() else { panic!("{}", program.dump()) };
    assert_eq!(
        (split.steps.len(), &split.imports[..], &split.exports[..]),
        (5, &[][..], &[END][..])
    );
    assert_eq!(split.target, TargetId(0));
}

#[test]
fn a_split_ends_where_the_target_changes() {
    let (a, b) = (Switches::new("a"), Switches::new("b"));
    let program = plan_on_two(&graph(), [&a, &b], &[0, 1, 0], &Options::default()).unwrap();
    let splits: Vec<_> = program
        .splits
        .iter()
        .map(|s| (s.target.0, s.steps.len(), s.imports.clone(), s.exports.clone()))
        .collect();
    assert_eq!(
        splits,
        [
            (0, 2, vec![], vec![FIRST]),
            (1, 1, vec![FIRST], vec![SECOND]),
            (0, 2, vec![SECOND, FIRST], vec![END]),
        ]
    );
    assert_eq!(program.splits[0].memory.place(X), Some(Place::Arena(0)));
    simulate::program(&program).unwrap();
}

#[test]
fn the_ends_have_targets_of_their_own() {
    let (a, b) = (Switches::new("a"), Switches::new("b"));
    let planned = [&a, &b].map(|target| Planned { target, layouts: &[] });
    let (cpu, gpu) = (TargetId(0), TargetId(1));
    let placement = Placement { embed: cpu, layers: vec![gpu; 3], head: cpu };
    let program = plan(&graph(), &planned, &placement, &Options::default()).unwrap();
    let targets: Vec<_> = program.splits.iter().map(|s| (s.target, s.steps.len())).collect();
    assert_eq!(targets, [(cpu, 1), (gpu, 3), (cpu, 1)]);
    let weights = |target| placement.weights(&graph(), 2, target).unwrap();
    assert_eq!((weights(cpu), weights(gpu)), (vec![EMBED], vec![]));
}

#[test]
fn states_and_weights_go_with_their_layers() {
    let mut b = builder();
    let x = embed(&mut b);
    for layer in 0..2 {
        b.layer(Some(layer as usize));
        let qkv = group(&mut b, &[Q, K, V], x);
        store(&mut b, layer, qkv[1], qkv[2]);
    }
    let graph = b.finish().unwrap();
    let placement = placement(&[1, 0]);
    assert_eq!(placement.states(&graph.tables.states, TargetId(0)), [StateId(1)]);
    assert_eq!(placement.states(&graph.tables.states, TargetId(1)), [StateId(0)]);
    assert_eq!(placement.weights(&graph, 2, TargetId(0)).unwrap(), [Q, K, V]);
    assert_eq!(placement.weights(&graph, 2, TargetId(1)).unwrap(), [EMBED, Q, K, V]);
}

#[test]
fn placements_that_do_not_fit_are_refused() {
    let a = Switches::new("a");
    let planned = [Planned { target: &a, layouts: &[] }];
    let error = |placement: &Placement| {
        let error = plan(&graph(), &planned, placement, &Options::default()).unwrap_err();
        assert!(matches!(error, Error::Placement { .. }));
        error.to_string()
    };
    let absent = error(&placement(&[0, 1, 0]));
    assert_eq!(absent, "placement: expected targets below 1, found target 1");
    let head = Placement { head: TargetId(7), ..placement(&[0, 0, 0]) };
    assert_eq!(error(&head), "placement: expected targets below 1, found target 7");
    let short = error(&placement(&[0, 0]));
    let text = "placement: expected a target for each layer, 2 among them, found 2 layers";
    assert_eq!(short, text);
}

#[test]
fn graphs_that_do_not_hold_together_are_refused() {
    let mut graph = graph();
    graph.nodes.swap(0, 1);
    let error = plan_whole(&graph, &Switches::new("a"), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Graph(minfer_graph::Error::Undefined { .. })), "{error}");
}

#[test]
fn a_single_split_takes_what_it_is_given() {
    let mut graph = graph();
    graph.nodes.remove(0);
    let target = Switches::new("a");
    let planned = Planned { target: &target, layouts: &[] };
    let split = single_split(graph.clone(), vec![X], vec![END, FIRST], planned).unwrap();
    let bytes = 4 * 256 * 4;
    let staged = [X, END, FIRST].map(|value| split.memory.place(value).unwrap());
    assert_eq!(staged, [0, bytes, 2 * bytes].map(Place::Staging));
    assert_eq!(split.memory.staging_bytes, 3 * bytes);
    let target = Switches::new("a").refusing(&[minfer_graph::OpKind::Add]);
    let planned = Planned { target: &target, layouts: &[] };
    let error = single_split(graph, vec![X], vec![END], planned).unwrap_err();
    assert_eq!(error.to_string(), "a cannot run add (node third): add is switched off");
}
