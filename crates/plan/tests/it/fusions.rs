//! Each fusion: what it makes, that it can be switched off, and what it leaves alone.

use minfer_graph::op::add::Add;
use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_graph::op::matmul::Matmul;
use minfer_graph::op::mul::Mul;
use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_graph::op::scale::Scale;
use minfer_graph::op::unary::Unary;
use minfer_graph::{Activation, Builder, Graph, Input, OpKind, OutputKind, ValueId};
use minfer_plan::{FUSIONS, Fusion, Options};
use minfer_quant::DType;

use crate::simulate;
use crate::target::*;
use crate::world::*;

/// A graph that `write` makes of the embedding; its results are outputs.
fn graph(write: impl FnOnce(&mut Builder, ValueId) -> Vec<ValueId>) -> Graph {
    let mut b = builder();
    let x = embed(&mut b);
    b.layer(Some(0));
    for value in write(&mut b, x) {
        b.output(OutputKind::Logits, value);
    }
    b.finish().unwrap()
}

fn fused(graph: &Graph, fusions: &[Fusion]) -> Vec<&'static str> {
    let program = plan_whole(graph, &Switches::new("a"), &only(fusions)).unwrap();
    simulate::program(&program).unwrap();
    kinds(&program.graph)[1..].to_vec()
}

/// The fusion makes `after` of the graph; without it, or with a target that refuses the composite,
/// nothing changes.
fn makes(fusion: Fusion, graph: &Graph, after: &[&str]) {
    assert_eq!(fused(graph, &[fusion]), after, "{}", fusion.name());
    let before = &kinds(graph)[1..];
    assert_eq!(fused(graph, &[]), before);
    let composite = OpKind::ALL.iter().find(|kind| kind.name() == fusion.name()).unwrap();
    let target = Switches::new("a").refusing(&[*composite]);
    let program = plan_whole(graph, &target, &only(&[fusion])).unwrap();
    assert_eq!(&kinds(&program.graph)[1..], before);
}

fn leaves(fusion: Fusion, graph: &Graph) {
    assert_eq!(fused(graph, &[fusion]), &kinds(graph)[1..], "{}", fusion.name());
}

fn silu(b: &mut Builder, x: ValueId) -> ValueId {
    b.push_one("act", Unary { function: Activation::Silu }, &[x]).unwrap()
}

fn mul(b: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
    b.push_one("mul", Mul, &[x, y]).unwrap()
}

fn add(b: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
    b.push_one("add", Add, &[x, y]).unwrap()
}

fn quantize(b: &mut Builder, x: ValueId) -> ValueId {
    b.push_one("quantize", QuantizeRows { dtype: DType::Q8_0 }, &[x]).unwrap()
}

fn down(b: &mut Builder, x: ValueId) -> ValueId {
    b.push_one("down", Matmul::new(DOWN, None), &[x]).unwrap()
}

#[test]
fn every_fusion_makes_a_composite() {
    let names: Vec<&str> = FUSIONS.iter().map(|fusion| fusion.name()).collect();
    let mut composites: Vec<&str> =
        OpKind::ALL.iter().filter(|kind| kind.is_composite()).map(|kind| kind.name()).collect();
    composites.retain(|name| !names.contains(name));
    assert_eq!(composites, Vec::<&str>::new());
    assert_eq!(Options::default().fusions, FUSIONS);
}

#[test]
fn glu() {
    let plain = graph(|b, x| {
        let both = group(b, &[GATE, UP], x);
        let act = silu(b, both[0]);
        vec![mul(b, act, both[1])]
    });
    makes(Fusion::Glu, &plain, &["matmul_group", "glu"]);
    let read_twice = graph(|b, x| {
        let act = silu(b, x);
        vec![mul(b, act, x), act]
    });
    leaves(Fusion::Glu, &read_twice);
    let squared = graph(|b, x| {
        let act = silu(b, x);
        vec![mul(b, act, act)]
    });
    leaves(Fusion::Glu, &squared);
    let other_side = graph(|b, x| {
        let act = silu(b, x);
        vec![mul(b, x, act)]
    });
    leaves(Fusion::Glu, &other_side);
}

#[test]
fn gate_up() {
    let gated = |swap: bool, again: bool| {
        graph(|b, x| {
            let mut both = group(b, &[GATE, UP], x);
            if swap {
                both.reverse();
            }
            let act = silu(b, both[0]);
            let product = mul(b, act, both[1]);
            if again { vec![product, both[1]] } else { vec![product] }
        })
    };
    let both = [Fusion::Glu, Fusion::GateUp];
    assert_eq!(fused(&gated(false, false), &both), ["gate_up"]);
    assert_eq!(fused(&gated(false, false), &[Fusion::GateUp]).len(), 3);
    assert_eq!(fused(&gated(true, false), &both), ["matmul_group", "glu"]);
    assert_eq!(fused(&gated(false, true), &both), ["matmul_group", "glu"]);
}

#[test]
fn expert_gate_up() {
    let gated = |again: bool| {
        graph(|b, x| {
            let chosen = b.input(Input::Positions);
            let mut expert =
                |weight| b.push_one("expert", ExpertMatmul { weight }, &[x, chosen]).unwrap();
            let (gate, up) = (expert(GATE), expert(UP));
            let act = silu(b, gate);
            let product = mul(b, act, up);
            if again { vec![product, up] } else { vec![product] }
        })
    };
    let both = [Fusion::Glu, Fusion::ExpertGateUp];
    assert_eq!(fused(&gated(false), &both), ["expert_gate_up"]);
    assert_eq!(fused(&gated(false), &both[1..]).len(), 4);
    let apart = ["expert_matmul", "expert_matmul", "glu"];
    assert_eq!(fused(&gated(true), &both), apart);
    let target = Switches::new("a").refusing(&[OpKind::ExpertGateUp]);
    let program = plan_whole(&gated(false), &target, &only(&both)).unwrap();
    assert_eq!(&kinds(&program.graph)[1..], apart);
}

/// The layer up to the cache; `q` and `k` change q and k before they are turned.
fn projections(
    b: &mut Builder,
    x: ValueId,
    norms: [bool; 2],
    magnitude: f32,
) -> (ValueId, ValueId, ValueId) {
    let qkv = group(b, &[Q, K, V], x);
    let norm = QkNorm { weight: HEAD_NORM, eps: 1e-5, head_dim: 32 };
    let mut normed = |x: ValueId, norms: bool| match norms {
        true => b.push_one("head_norm", norm.clone(), &[x]).unwrap(),
        false => x,
    };
    let (q, k) = (normed(qkv[0], norms[0]), normed(qkv[1], norms[1]));
    let q = rope(b, q);
    (q, rope_by(b, k, magnitude), qkv[2])
}

fn stored(norms: [bool; 2], magnitude: f32) -> Graph {
    graph(|b, x| {
        let (q, k, v) = projections(b, x, norms, magnitude);
        store(b, 0, k, v);
        vec![q]
    })
}

#[test]
fn qkv() {
    makes(Fusion::Qkv, &stored([false; 2], 1.0), &["qkv"]);
    makes(Fusion::Qkv, &stored([true; 2], 1.0), &["qkv"]);
    leaves(Fusion::Qkv, &stored([true, false], 1.0));
    leaves(Fusion::Qkv, &stored([false, true], 1.0));
    leaves(Fusion::Qkv, &stored([false; 2], 2.0));
}

#[test]
fn qkv_leaves_alone_what_others_read() {
    let k_read = graph(|b, x| {
        let (q, k, v) = projections(b, x, [false; 2], 1.0);
        store(b, 0, k, v);
        vec![q, k]
    });
    leaves(Fusion::Qkv, &k_read);
    let v_read = graph(|b, x| {
        let (q, k, v) = projections(b, x, [false; 2], 1.0);
        store(b, 0, k, v);
        vec![q, v]
    });
    leaves(Fusion::Qkv, &v_read);
    // The composite would define q where `store` stands, after its reader.
    let q_read_early = graph(|b, x| {
        let (q, k, v) = projections(b, x, [false; 2], 1.0);
        let early = b.push_one("early", Scale { factor: 2.0 }, &[q]).unwrap();
        store(b, 0, k, v);
        vec![early]
    });
    leaves(Fusion::Qkv, &q_read_early);
}

/// What follows a pattern at once is looked at too.
#[test]
fn patterns_that_end_side_by_side_are_all_found() {
    let two = graph(|b, x| {
        let (q, k, v) = projections(b, x, [true; 2], 1.0);
        let (q1, k1, v1) = projections(b, x, [true; 2], 1.0);
        store(b, 0, k, v);
        store(b, 1, k1, v1);
        vec![q, q1]
    });
    assert_eq!(fused(&two, &[Fusion::Qkv]), ["qkv", "qkv"]);
}

#[test]
fn norm_quantize() {
    let plain = graph(|b, x| {
        let y = norm(b, x);
        let y = quantize(b, y);
        vec![b.push_one("q", Matmul::new(Q, None), &[y]).unwrap()]
    });
    makes(Fusion::NormQuantize, &plain, &["norm_quantize", "matmul"]);
    let read = graph(|b, x| {
        let y = norm(b, x);
        quantize(b, y);
        vec![y]
    });
    leaves(Fusion::NormQuantize, &read);
    let not_a_norm = graph(|b, x| {
        let y = silu(b, x);
        quantize(b, y);
        vec![x]
    });
    leaves(Fusion::NormQuantize, &not_a_norm);
}

#[test]
fn add_norm() {
    let plain = graph(|b, x| {
        let other = silu(b, x);
        let sum = add(b, x, other);
        let y = norm(b, sum);
        vec![add(b, sum, y)]
    });
    makes(Fusion::AddNorm, &plain, &["unary", "add_norm", "add"]);
    let host_reads = graph(|b, x| {
        let sum = add(b, x, x);
        vec![sum, norm(b, sum)]
    });
    makes(Fusion::AddNorm, &host_reads, &["add_norm"]);
    // The composite would define the sum after its reader.
    let read_early = graph(|b, x| {
        let sum = add(b, x, x);
        let early = silu(b, sum);
        vec![norm(b, sum), early]
    });
    leaves(Fusion::AddNorm, &read_early);
}

#[test]
fn glu_quantize() {
    let gated = |again: bool| {
        graph(|b, x| {
            let act = silu(b, x);
            let product = mul(b, act, x);
            quantize(b, product);
            vec![if again { product } else { x }]
        })
    };
    let both = [Fusion::Glu, Fusion::GluQuantize];
    assert_eq!(fused(&gated(false), &both), ["glu_quantize"]);
    assert_eq!(fused(&gated(false), &both[1..]), ["unary", "mul", "quantize_rows"]);
    assert_eq!(fused(&gated(true), &both), ["glu", "quantize_rows"]);
}

#[test]
fn norm_matmul() {
    let plain = graph(|b, x| {
        let y = norm(b, x);
        vec![group(b, &[GATE, UP], y)[0]]
    });
    makes(Fusion::NormMatmul, &plain, &["norm_matmul"]);
    let single = graph(|b, x| {
        let y = norm(b, x);
        vec![b.push_one("q", Matmul::new(Q, None), &[y]).unwrap()]
    });
    makes(Fusion::NormMatmul, &single, &["norm_matmul"]);
    let read = graph(|b, x| {
        let y = norm(b, x);
        vec![group(b, &[GATE, UP], y)[0], y]
    });
    leaves(Fusion::NormMatmul, &read);
}

#[test]
fn matmul_add() {
    let summed = |swap: bool, again: bool| {
        graph(|b, x| {
            let y = b.push_one("q", Matmul::new(Q, None), &[x]).unwrap();
            let sum = if swap { add(b, y, x) } else { add(b, x, y) };
            if again { vec![sum, y] } else { vec![sum] }
        })
    };
    makes(Fusion::MatmulAdd, &summed(false, false), &["matmul_add"]);
    makes(Fusion::MatmulAdd, &summed(true, false), &["matmul_add"]);
    leaves(Fusion::MatmulAdd, &summed(false, true));
}

#[test]
fn norm_add() {
    let summed = |swap: bool, again: bool| {
        graph(|b, x| {
            let y = norm(b, x);
            let sum = if swap { add(b, y, x) } else { add(b, x, y) };
            if again { vec![sum, y] } else { vec![sum] }
        })
    };
    makes(Fusion::NormAdd, &summed(false, false), &["norm_add"]);
    makes(Fusion::NormAdd, &summed(true, false), &["norm_add"]);
    leaves(Fusion::NormAdd, &summed(false, true));
}

/// Composites that take the norm before them in; a target that does not keeps both.
#[test]
fn norms_are_taken_in() {
    let gated = |again: bool| {
        graph(|b, x| {
            let y = norm(b, x);
            let both = group(b, &[GATE, UP], y);
            let act = silu(b, both[0]);
            let product = mul(b, act, both[1]);
            if again { vec![product, y] } else { vec![product] }
        })
    };
    let stored = graph(|b, x| {
        let y = norm(b, x);
        let (q, k, v) = projections(b, y, [true; 2], 1.0);
        store(b, 0, k, v);
        vec![q]
    });
    let (gates, heads) = ([Fusion::Glu, Fusion::GateUp], [Fusion::Qkv]);
    for (graph, before, fusion, composite) in [
        (&gated(false), &gates[..], Fusion::NormGateUp, "gate_up"),
        (&stored, &heads[..], Fusion::NormQkv, "qkv"),
    ] {
        assert_eq!(fused(graph, before), ["rms_norm", composite]);
        let all: Vec<Fusion> = before.iter().copied().chain([fusion]).collect();
        assert_eq!(fused(graph, &all), [composite]);
        let refusing = Switches::new("a").refusing_norms();
        let program = plan_whole(graph, &refusing, &only(&all)).unwrap();
        assert_eq!(&kinds(&program.graph)[1..], ["rms_norm", composite]);
    }
    let all = [Fusion::Glu, Fusion::GateUp, Fusion::NormGateUp];
    assert_eq!(fused(&gated(true), &all), ["rms_norm", "gate_up"]);
}

/// Nothing is swallowed across the border of two targets.
#[test]
fn patterns_end_at_the_border() {
    let mut b = builder();
    let x = embed(&mut b);
    b.layer(Some(0));
    let sum = add(&mut b, x, x);
    b.layer(Some(1));
    let y = norm(&mut b, sum);
    let act = silu(&mut b, y);
    b.layer(Some(2));
    let z = mul(&mut b, act, y);
    b.output(OutputKind::Logits, z);
    let graph = b.finish().unwrap();
    let (one, two) = (Switches::new("a"), Switches::new("b"));
    let layers = |layers: &[u32]| {
        let program = plan_on_two(&graph, [&one, &two], layers, &Options::default()).unwrap();
        simulate::program(&program).unwrap();
        kinds(&program.graph)[1..].join(" ")
    };
    assert_eq!(layers(&[0, 0, 0]), "add_norm glu");
    assert_eq!(layers(&[0, 1, 0]), "add rms_norm unary mul");
    assert_eq!(layers(&[0, 1, 1]), "add rms_norm glu");
}

/// One after the other, as a device would have it.
#[test]
fn all_together() {
    let layer = graph(|b, x| {
        let y = norm(b, x);
        let both = group(b, &[GATE, UP], y);
        let act = silu(b, both[0]);
        let inner = mul(b, act, both[1]);
        let z = down(b, inner);
        let sum = add(b, x, z);
        let last = norm(b, sum);
        vec![b.push_one("q", Matmul::new(Q, None), &[last]).unwrap()]
    });
    let target = Switches::new("a").wanting(blocks);
    let program = plan_whole(&layer, &target, &Options::default()).unwrap();
    assert_eq!(
        &kinds(&program.graph)[1..],
        ["norm_quantize", "gate_up", "quantize_rows", "matmul_add", "norm_quantize", "matmul"]
    );
    let floats = plan_whole(&layer, &Switches::new("a"), &Options::default()).unwrap();
    assert_eq!(&kinds(&floats.graph)[1..], ["gate_up", "matmul_add", "norm_matmul"]);
}
