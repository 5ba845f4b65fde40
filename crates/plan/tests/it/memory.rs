//! The memory plan, on random graphs: carried out on an abstract memory, no value is lost before
//! its last reader.

use std::sync::Arc;

use minfer_graph::op::add::Add;
use minfer_graph::op::add_norm::AddNorm;
use minfer_graph::op::matmul::Matmul;
use minfer_graph::op::mul::Mul;
use minfer_graph::op::scale::Scale;
use minfer_graph::op::top_k::TopK;
use minfer_graph::op::unary::Unary;
use minfer_graph::{Activation, Graph, OpKind, OutputKind, ValueId};
use minfer_plan::{FUSIONS, Options, Place, Program, Split};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::simulate;
use crate::target::*;
use crate::world::*;

/// A node to append: what it does, which earlier values it reads, whether the host reads its
/// result, whether a layer begins with it.
type Draw = (u8, [Index; 2], bool, bool);

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let output = prop::bool::weighted(0.1);
    let draw = (0..10u8, any::<[Index; 2]>(), output, prop::bool::weighted(0.3));
    prop::collection::vec(draw, 1..40)
}

/// Chains, sums, products and groups over rows of 64, 256 and 512 columns, read any number of
/// times; and how many layers they are in.
fn graph(draws: &[Draw]) -> (Graph, usize) {
    let mut b = builder();
    let mut layers = 0;
    let mut wide = vec![embed(&mut b)];
    // The gates and ups of rows.
    let mut pairs: Vec<[ValueId; 2]> = Vec::new();
    for (i, (what, [a, c], output, begins)) in draws.iter().enumerate() {
        if *begins || layers == 0 {
            b.layer(Some(layers));
            layers += 1;
        }
        let (x, y, name) = (*a.get(&wide), *c.get(&wide), format!("n{i}"));
        let made = match what {
            0 => b.push(name, Add, &[x, y]).unwrap(),
            1 => b.push(name, Mul, &[x, y]).unwrap(),
            2 => b.push(name, Scale { factor: 0.5 }, &[x]).unwrap(),
            3 => b.push(name, Unary { function: Activation::Silu }, &[x]).unwrap(),
            4 => vec![norm(&mut b, x)],
            5 => b.push(name, AddNorm { weight: NORM, eps: 1e-5 }, &[x, y]).unwrap(),
            6 => group(&mut b, &[GATE, UP], x),
            7 => group(&mut b, &[Q, K, V], x),
            8 if !pairs.is_empty() => {
                let [gate, up] = *a.get(&pairs);
                let act = Unary { function: Activation::Silu };
                let act = b.push_one(format!("{name}.act"), act, &[gate]).unwrap();
                let product = b.push_one(name, Mul, &[act, up]).unwrap();
                let down = Matmul::new(DOWN, None);
                b.push("down", down, &[product]).unwrap()
            }
            _few => b.push(name, TopK { k: 3 }, &[x]).unwrap(),
        };
        match what {
            0..=5 => wide.extend(&made),
            6 => pairs.push([made[0], made[1]]),
            7 => wide.push(made[0]),
            _other if made.len() == 1 => wide.extend(&made),
            _few => {}
        }
        if *output {
            b.output(OutputKind::Logits, made[made.len() - 1]);
        }
    }
    b.output(OutputKind::Logits, wide[wide.len() - 1]);
    (b.finish().unwrap(), layers)
}

fn scratch(kind: OpKind) -> usize {
    match kind {
        OpKind::Add => 1000,
        OpKind::MatmulGroup | OpKind::GateUp => 5000,
        _none => 0,
    }
}

fn naive_bytes(split: &Split) -> usize {
    let graph = &split.graph;
    let rounded = |bytes: usize| bytes.max(1).next_multiple_of(ALIGNMENT);
    let values = split.memory.places.iter().filter(|(_, place)| matches!(place, Place::Arena(_)));
    let values = values.map(|(id, _)| rounded(graph.ty(*id).bytes(&graph.tables.shape)));
    let scratch = split.steps.iter().map(|step| match step.launch.scratch {
        0 => 0,
        bytes => rounded(bytes),
    });
    values.chain(scratch).sum()
}

fn check(program: &Program) -> Result<(), TestCaseError> {
    if let Err(what) = simulate::program(program) {
        return Err(TestCaseError::fail(format!("{what}\n{}", program.dump())));
    }
    for (split, live) in program.splits.iter().zip(simulate::live_bytes(program)) {
        prop_assert!(live <= split.memory.arena_bytes, "{live} alive\n{}", program.dump());
        let naive = naive_bytes(split);
        prop_assert!(split.memory.arena_bytes <= naive, "{naive} in all\n{}", program.dump());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_live_value_is_overwritten(
        draws in draws(),
        targets in prop::collection::vec(0..2u32, 40),
        fused in any::<bool>(),
        keep_all in prop::bool::weighted(0.2),
    ) {
        let (graph, layers) = graph(&draws);
        let fusions = if fused { FUSIONS.to_vec() } else { Vec::new() };
        let options = Options { fusions, keep_all, exact: false };
        let cpu = Switches::new("a").wanting(blocks).needing(scratch);
        let other = Switches::new("b").needing(|_| 64);
        check(&plan_whole(&graph, &cpu, &options).unwrap())?;
        let two = plan_on_two(&graph, [&cpu, &other], &targets[..layers], &options).unwrap();
        check(&two)?;
        if keep_all {
            let exports = |split: &Arc<Split>| split.exports.len();
            let defined: usize = two.graph.nodes.iter().map(|node| node.outputs.len()).sum();
            prop_assert_eq!(two.splits.iter().map(exports).sum::<usize>(), defined);
        }
    }
}

/// A chain of functions of each element, all in one place.
fn chain() -> Program {
    let mut b = builder();
    let mut x = embed(&mut b);
    for i in 0..4 {
        x = b.push_one(format!("n{i}"), Scale { factor: 2.0 }, &[x]).unwrap();
    }
    let two = b.push_one("two", Mul, &[x, x]).unwrap();
    b.output(OutputKind::Logits, two);
    plan_whole(&b.finish().unwrap(), &Switches::new("a"), &Options::default()).unwrap()
}

#[test]
fn chains_work_in_place() {
    let program = chain();
    let memory = &program.splits[0].memory;
    let offsets: Vec<_> = memory.places.values().collect();
    let arena = Place::Arena(0);
    assert_eq!(offsets, [&arena, &arena, &arena, &arena, &arena, &Place::Staging(0)]);
    assert_eq!((memory.arena_bytes, memory.staging_bytes), (4 * 256 * 4, 4 * 256 * 4));
}

#[test]
fn an_operand_that_is_read_again_keeps_its_memory() {
    let mut b = builder();
    let x = embed(&mut b);
    let y = b.push_one("first", Scale { factor: 2.0 }, &[x]).unwrap();
    let twice = b.push_one("twice", Add, &[y, y]).unwrap();
    let z = b.push_one("again", Add, &[twice, x]).unwrap();
    b.output(OutputKind::Logits, z);
    let program =
        plan_whole(&b.finish().unwrap(), &Switches::new("a"), &Options::default()).unwrap();
    let place = |value| program.splits[0].memory.place(value);
    // x is read by `again`; y by one node, but twice.
    assert_ne!(place(x), place(y));
    assert_ne!(place(y), place(twice));
    assert_eq!(program.splits[0].memory.arena_bytes, 3 * 4 * 256 * 4);
    simulate::program(&program).unwrap();
}

fn put(split: &mut Split, value: ValueId, offset: usize) {
    split.memory.places.insert(value, Place::Arena(offset));
}

/// The simulation sees what it is there to see.
#[test]
fn broken_plans_are_found() {
    let broken = |change: &dyn Fn(&mut Split)| {
        let mut b = builder();
        let x = embed(&mut b);
        let y = norm(&mut b, x);
        let z = b.push_one("sum", Add, &[y, x]).unwrap();
        let w = b.push_one("again", Mul, &[z, x]).unwrap();
        b.output(OutputKind::Logits, w);
        let target = Switches::new("a").needing(scratch);
        let plain = only(&[]);
        let mut program = plan_whole(&b.finish().unwrap(), &target, &plain).unwrap();
        simulate::program(&program).unwrap();
        change(Arc::get_mut(&mut program.splits[0]).unwrap());
        simulate::program(&program).unwrap_err()
    };
    let (x, y, w) = (ValueId(1), ValueId(2), ValueId(4));
    let error = broken(&|split| put(split, y, 0));
    assert!(error.contains("ValueId(2) lies over ValueId(1)"), "{error}");
    let error = broken(&|split| put(split, w, 0));
    assert!(error.contains("are staged"), "{error}");
    let error = broken(&|split| put(split, x, 8));
    assert!(error.contains("Arena(8)"), "{error}");
    let error = broken(&|split| split.memory.arena_bytes = 64);
    assert!(error.contains("of 64"), "{error}");
    let error = broken(&|split| split.steps[2].scratch = Some(0));
    assert!(error.contains("scratch lies over"), "{error}");
    let error = broken(&|split| split.exports.clear());
    assert!(error.contains("are staged"), "{error}");
}
