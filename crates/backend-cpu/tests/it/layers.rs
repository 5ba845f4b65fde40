//! Whole layers: attention over pages of every type, norms, gates, experts.

use std::sync::Arc;

use minfer_backend_cpu::Isa;
use minfer_graph::op::add::Add;
use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::attention::Attention;
use minfer_graph::op::embed::Embed;
use minfer_graph::op::expert_combine::ExpertCombine;
use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::mul::Mul;
use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::{Pairs, Rope};
use minfer_graph::op::route::Route;
use minfer_graph::op::scale::Scale;
use minfer_graph::op::softmax::Softmax;
use minfer_graph::op::top_k::TopK;
use minfer_graph::op::unary::Unary;
use minfer_graph::{Activation, Builder, Input, OutputKind, StateDecl, StateId, ValueId, WeightId};
use minfer_quant::{KvType, Quant};

use crate::harness::{Case, WeightList, check, check_on, device};

const WIDTH: usize = 256;

/// What differs between attention layers.
#[derive(Clone, Copy)]
struct Form {
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    key: KvType,
    value: KvType,
    window: Option<usize>,
    soft_cap: Option<f32>,
    sinks: bool,
    pairs: Pairs,
}

const PLAIN: Form = Form {
    heads: 3,
    kv_heads: 1,
    head_dim: 64,
    key: KvType::F16,
    value: KvType::F16,
    window: None,
    soft_cap: None,
    sinks: false,
    pairs: Pairs::HalfSplit,
};

/// An embedding, one attention layer, the rows asked for.
fn attention(form: Form) -> Case {
    let Form { heads, kv_heads, head_dim, .. } = form;
    let mut weights = WeightList::default();
    let table = weights.add(Quant::Q8_0, 1, 50, WIDTH);
    let norm = weights.add(Quant::F32, 1, 1, WIDTH);
    let query = weights.add(Quant::Q4_K, 1, heads * head_dim, WIDTH);
    let key = weights.add(Quant::Q5_0, 1, kv_heads * head_dim, WIDTH);
    let value = weights.add(Quant::F16, 1, kv_heads * head_dim, WIDTH);
    let head_norm = weights.add(Quant::F32, 1, 1, head_dim);
    let sinks = form.sinks.then(|| weights.add(Quant::F32, 1, 1, heads));
    let state = StateDecl::Paged {
        group: 0,
        layer: 0,
        kv_heads,
        head_dim,
        key: form.key,
        value: form.value,
        window: form.window,
    };
    let frequencies: Arc<[f64]> =
        (0..head_dim / 2).map(|i| 10_000.0_f64.powf(-2.0 * i as f64 / head_dim as f64)).collect();
    let build = move |b: &mut Builder| {
        let state = StateId(0);
        let [ids, positions] = [Input::Tokens, Input::Positions].map(|input| b.input(input));
        let [slots, pages, work] =
            [Input::Slots { group: 0 }, Input::Pages { group: 0 }, Input::Work { group: 0 }]
                .map(|input| b.input(input));
        let x = b.push_one("embed", Embed { weight: table }, &[ids]).unwrap();
        b.layer(Some(0));
        let normed = b.push_one("norm", RmsNorm { weight: norm, eps: 1e-5 }, &[x]).unwrap();
        let members = [query, key, value].map(|weight| Member::new(weight, None)).to_vec();
        let qkv = b.push("qkv", MatmulGroup { members }, &[normed]).unwrap();
        let op = QkNorm { weight: head_norm, eps: 1e-6, head_dim };
        let q = b.push_one("q_norm", op, &[qkv[0]]).unwrap();
        let frequencies = frequencies.clone();
        let rope = Rope { head_dim, pairs: form.pairs, frequencies, magnitude: 1.1 };
        let q = b.push_one("q_rope", rope.clone(), &[q, positions]).unwrap();
        let k = b.push_one("k_rope", rope, &[qkv[1], positions]).unwrap();
        b.push("store", KvStore { state }, &[k, qkv[2], slots]).unwrap();
        let scale = 1.0 / (head_dim as f32).sqrt();
        let op = Attention { state, heads, scale, soft_cap: form.soft_cap, sinks };
        let y = b.push_one("attention", op, &[q, positions, pages, work]).unwrap();
        b.layer(None);
        let rows = b.input(Input::OutputRows);
        let y = b.push_one("rows", GetRows, &[y, rows]).unwrap();
        b.output(OutputKind::Logits, y);
    };
    Case { weights, states: vec![state], build: Box::new(build) }
}

#[test]
fn attention_in_every_kv_type() {
    for key in KvType::ALL.iter().copied() {
        let value = if key == KvType::Q8_0 { KvType::BF16 } else { key };
        let form = Form { key, value, ..PLAIN };
        check(&attention(form), key, false, &[(0, 17), (17, 1), (18, 33), (51, 1)]);
    }
    let form = Form { value: KvType::Q8_0, head_dim: 32, ..PLAIN };
    check(&attention(form), KvType::F16, false, &[(0, 40), (40, 1)]);
}

#[test]
fn attention_across_partitions() {
    // Decode at 520 and 1100 sees two and three partitions, as work items of their own.
    let steps = [(0, 500), (500, 20), (520, 1), (521, 579), (1100, 1)];
    let small = Form { heads: 2, head_dim: 16, ..PLAIN };
    check(&attention(small), KvType::F16, false, &steps);
    let form = Form { window: Some(600), sinks: true, ..small };
    check(&attention(form), KvType::F16, false, &steps);
}

#[test]
fn threads_change_nothing() {
    let devices = || [1, 2, 8].map(|threads| device(Isa::best(), threads)).into();
    let steps = [(0, 530), (530, 1), (531, 9)];
    check_on(devices, &attention(PLAIN), KvType::F16, false, &steps);
    let quants = [Quant::Q4_1, Quant::Q8_0, Quant::Q5_1];
    let dense = dense(Activation::Silu, quants, None);
    check_on(devices, &dense, KvType::F16, false, &[(0, 1), (0, 70)]);
    check_on(devices, &experts(Quant::Q4_0, 2, true), KvType::F16, false, &[(0, 35)]);
}

#[test]
fn attention_with_windows_caps_sinks_and_odd_heads() {
    let forms = [
        Form { window: Some(5), ..PLAIN },
        Form { window: Some(40), soft_cap: Some(15.0), ..PLAIN },
        Form { sinks: true, soft_cap: Some(2.0), ..PLAIN },
        Form { heads: 4, kv_heads: 2, head_dim: 16, pairs: Pairs::Interleaved, ..PLAIN },
        Form { heads: 8, kv_heads: 1, head_dim: 6, ..PLAIN },
        Form { heads: 2, kv_heads: 2, head_dim: 80, key: KvType::F32, ..PLAIN },
        Form { heads: 20, kv_heads: 1, head_dim: 24, value: KvType::F32, ..PLAIN },
    ];
    for form in forms {
        check(&attention(form), KvType::F16, false, &[(0, 35), (35, 1), (36, 40)]);
    }
}

/// Members of a gated feed-forward block.
fn gated(weights: &mut WeightList, quants: [Quant; 3], width: usize) -> [WeightId; 3] {
    [
        weights.add(quants[0], 1, width, WIDTH),
        weights.add(quants[1], 1, width, WIDTH),
        weights.add(quants[2], 1, WIDTH, width),
    ]
}

fn feed_forward(b: &mut Builder, x: ValueId, w: [WeightId; 3], function: Activation) -> ValueId {
    let members = [w[0], w[1]].map(|weight| Member::new(weight, None)).to_vec();
    let both = b.push("gate_up", MatmulGroup { members }, &[x]).unwrap();
    let act = b.push_one("act", Unary { function }, &[both[0]]).unwrap();
    let product = b.push_one("product", Mul, &[act, both[1]]).unwrap();
    b.push_one("down", Matmul::new(w[2], None), &[product]).unwrap()
}

/// Two feed-forward blocks with residuals, then a capped head.
fn dense(function: Activation, quants: [Quant; 3], ids: Option<usize>) -> Case {
    let mut weights = WeightList::default();
    let table = weights.add(Quant::BF16, 1, 50, WIDTH);
    let norms = [(); 3].map(|()| weights.add(Quant::F32, 1, 1, WIDTH));
    let first = gated(&mut weights, quants, 512);
    let second = gated(&mut weights, [quants[1], quants[0], quants[2]], 256);
    let build = move |b: &mut Builder| {
        let tokens = b.input(Input::Tokens);
        let x = b.push_one("embed", Embed { weight: table }, &[tokens]).unwrap();
        let mut x = b.push_one("scale", Scale { factor: 16.0 }, &[x]).unwrap();
        for (block, norm) in [first, second].into_iter().zip(norms) {
            let normed = b.push_one("norm", RmsNorm { weight: norm, eps: 1e-6 }, &[x]).unwrap();
            let y = feed_forward(b, normed, block, function);
            x = b.push_one("residual", Add, &[x, y]).unwrap();
        }
        let rows = b.input(Input::OutputRows);
        let x = b.push_one("rows", GetRows, &[x, rows]).unwrap();
        let x = b.push_one("norm", RmsNorm { weight: norms[2], eps: 1e-6 }, &[x]).unwrap();
        let logits = b.push_one("head", Matmul::new(table, None), &[x]).unwrap();
        let function = Activation::SoftCap(30.0);
        let logits = b.push_one("cap", Unary { function }, &[logits]).unwrap();
        match ids {
            None => b.output(OutputKind::Logits, logits),
            Some(0) => {
                let ids = b.push_one("argmax", Argmax, &[logits]).unwrap();
                b.output(OutputKind::Ids, ids);
            }
            Some(k) => {
                let top = b.push("top_k", TopK { k }, &[logits]).unwrap();
                b.output(OutputKind::Ids, top[0]);
                b.output(OutputKind::IdLogits, top[1]);
            }
        }
    };
    Case { weights, states: Vec::new(), build: Box::new(build) }
}

#[test]
fn feed_forward_blocks_and_what_the_host_reads() {
    let quants = [Quant::Q4_1, Quant::Q8_0, Quant::Q5_1];
    for (function, ids) in
        [(Activation::Silu, None), (Activation::Gelu, Some(0)), (Activation::SoftCap(3.0), Some(7))]
    {
        check(&dense(function, quants, ids), KvType::F16, false, &[(0, 1), (0, 9), (0, 40)]);
        check(&dense(function, quants, ids), KvType::F16, true, &[(0, 1), (0, 9)]);
    }
    let quants = [Quant::Q4_K, Quant::Q6_K, Quant::Q2_K];
    check(&dense(Activation::Silu, quants, None), KvType::F16, false, &[(0, 1), (0, 34)]);
}

/// A mixture of experts.
fn experts(quant: Quant, used: usize, normalize: bool) -> Case {
    let mut weights = WeightList::default();
    let table = weights.add(Quant::F16, 1, 50, WIDTH);
    let router = weights.add(Quant::F32, 1, 7, WIDTH);
    let gate = weights.add(quant, 7, 256, WIDTH);
    let up = weights.add(quant, 7, 256, WIDTH);
    let down = weights.add(quant, 7, WIDTH, 256);
    let build = move |b: &mut Builder| {
        let tokens = b.input(Input::Tokens);
        let x = b.push_one("embed", Embed { weight: table }, &[tokens]).unwrap();
        let scores = b.push_one("router", Matmul::new(router, None), &[x]).unwrap();
        let p = b.push_one("softmax", Softmax, &[scores]).unwrap();
        let route = b.push("route", Route { used, normalize }, &[p]).unwrap();
        let gates = b.push_one("gate", ExpertMatmul { weight: gate }, &[x, route[0]]).unwrap();
        let ups = b.push_one("up", ExpertMatmul { weight: up }, &[x, route[0]]).unwrap();
        let act = b.push_one("act", Unary { function: Activation::Silu }, &[gates]).unwrap();
        let product = b.push_one("product", Mul, &[act, ups]).unwrap();
        let downs =
            b.push_one("down", ExpertMatmul { weight: down }, &[product, route[0]]).unwrap();
        let y = b.push_one("combine", ExpertCombine, &[downs, route[1]]).unwrap();
        let rows = b.input(Input::OutputRows);
        let y = b.push_one("rows", GetRows, &[y, rows]).unwrap();
        b.output(OutputKind::Logits, y);
    };
    Case { weights, states: Vec::new(), build: Box::new(build) }
}

#[test]
fn mixtures_of_experts() {
    for (quant, used, normalize) in [
        (Quant::Q4_0, 2, true),
        (Quant::Q5_K, 3, false),
        (Quant::F16, 7, true),
        (Quant::MXFP4, 1, true),
    ] {
        check(&experts(quant, used, normalize), KvType::F16, false, &[(0, 1), (0, 6), (0, 35)]);
    }
    check(&experts(Quant::IQ4_XS, 2, true), KvType::F16, true, &[(0, 1), (0, 6)]);
}
