//! Each op by hand or by an independent formula, and canonical against f64 on random operands.

use std::sync::Arc;

use minfer_graph::op::expert_combine::ExpertCombine;
use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::norm_matmul::NormMatmul;
use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::{Pairs, Rope};
use minfer_graph::op::route::Route;
use minfer_graph::op::top_k::TopK;
use minfer_graph::{Activation, Op, WeightDecl, WeightId, op as def};
use minfer_plan::{PlacedState, PlacedWeight, Region};
use minfer_quant::{DType, Quant};

use super::{Env, run};
use crate::cache::Caches;
use crate::real::Real;
use crate::tensor::Tensor;
use crate::weights::Weights;

/// Numbers that look random and are the same every time (a 64-bit linear congruential generator).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0xDA3E_39CB_94B9_5BDB);
        (self.0 >> 33) as u32
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| (self.next() >> 8) as u8).collect()
    }

    /// Values in −limit..limit.
    pub(crate) fn values(&mut self, n: usize, limit: f32) -> Vec<f32> {
        (0..n).map(|_| (self.next() as f32 / (1_u64 << 30) as f32 - 1.0) * limit).collect()
    }
}

/// Weights and caches for ops that run outside a graph.
pub(crate) struct Fixture {
    weights: Weights,
    pub(crate) caches: Caches,
    partials: usize,
}

/// Format, experts, rows, columns and values of a weight.
pub(crate) type Given = (Quant, usize, usize, usize, Vec<f32>);

impl Fixture {
    pub(crate) fn new(given: &[Given], states: &[PlacedState], partials: usize) -> Fixture {
        let mut bytes = Vec::new();
        let mut placed = Vec::new();
        for (index, (quant, experts, rows, cols, values)) in given.iter().enumerate() {
            let offset = bytes.len();
            let row_bytes = quant.row_bytes(*cols).expect("whole blocks");
            bytes.resize(offset + experts * rows * row_bytes, 0);
            quant.encode(values, &mut bytes[offset..]).expect("an encoder and finite values");
            let name = format!("w{index}");
            let (experts, rows, cols) = (*experts, *rows, *cols);
            let decl = WeightDecl { name, quant: *quant, experts, rows, cols };
            placed.push(PlacedWeight { id: WeightId(index as u32), decl, region: 0, offset });
        }
        let weights = Weights::new("test", &[Region(Arc::new(bytes))], &placed).expect("in range");
        Fixture { weights, caches: Caches::new("test", states).expect("small pools"), partials }
    }

    pub(crate) fn run<T: Real>(
        &mut self,
        op: impl Into<Op>,
        inputs: &[Tensor<T>],
    ) -> Vec<Tensor<T>> {
        let Fixture { weights, caches, partials } = self;
        run(&op.into(), inputs, &mut Env { weights, caches, partials: *partials, threads: 2 })
    }
}

fn vector(values: &[f32]) -> Given {
    (Quant::F32, 1, 1, values.len(), values.to_vec())
}

pub(crate) fn real<T: Real>(cols: usize, values: &[f32]) -> Tensor<T> {
    Tensor::real(cols, values.iter().map(|&x| T::widen(x)).collect())
}

/// The op's only output in canonical mode.
fn canonical(given: &[Given], op: impl Into<Op>, inputs: &[Tensor<f32>]) -> Tensor<f32> {
    let mut outputs = Fixture::new(given, &[], 0).run(op, inputs);
    assert_eq!(outputs.len(), 1);
    outputs.remove(0)
}

/// Runs an op in both modes; outputs must agree within `tolerance` of their largest element.
fn agree(given: &[Given], op: impl Into<Op>, inputs: &[(usize, Vec<f32>)], tolerance: f64) {
    let op = op.into();
    let in_f32: Vec<Tensor<f32>> = inputs.iter().map(|(c, v)| real(*c, v)).collect();
    let in_f64: Vec<Tensor<f64>> = inputs.iter().map(|(c, v)| real(*c, v)).collect();
    let found = Fixture::new(given, &[], 0).run(op.clone(), &in_f32);
    let expected = Fixture::new(given, &[], 0).run(op.clone(), &in_f64);
    let mut rounded = false;
    for (found, expected) in found.iter().zip(&expected) {
        let size = expected.reals().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(size > 0.0, "{op:?}: a case that zero would pass");
        for (&found, &expected) in found.reals().iter().zip(expected.reals()) {
            let error = (f64::from(found) - expected).abs();
            rounded |= error > 0.0;
            assert!(error <= tolerance * size, "{op:?}: {found} instead of {expected}");
        }
    }
    assert!(rounded, "{op:?}: f64 mode rounds like f32");
}

#[test]
fn elementwise_ops() {
    let (a, b) = (real(3, &[1.0, -2.0, 0.1]), real(3, &[0.5, 4.0, 0.2]));
    let inputs = [a.clone(), b];
    assert_eq!(canonical(&[], def::add::Add, &inputs).reals(), [1.5, 2.0, 0.1 + 0.2]);
    assert_eq!(canonical(&[], def::mul::Mul, &inputs).reals(), [0.5, -8.0, 0.1 * 0.2]);
    let scale = def::scale::Scale { factor: 3.0 };
    assert_eq!(canonical(&[], scale, &[a]).reals(), [3.0, -6.0, 0.1 * 3.0]);
}

#[test]
fn activations_follow_their_textbook_forms() {
    let x: Vec<f32> = (-80..=80).map(|i| i as f32 * 0.11).collect();
    let silu = |x: f64| x / (1.0 + (-x).exp());
    let gelu = |x: f64| {
        let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        0.5 * x * (1.0 + u.tanh())
    };
    let cap = |x: f64| 30.0 * (x / 30.0).tanh();
    let cases: [(Activation, &dyn Fn(f64) -> f64); 3] =
        [(Activation::Silu, &silu), (Activation::Gelu, &gelu), (Activation::SoftCap(30.0), &cap)];
    for (function, formula) in cases {
        let op = def::unary::Unary { function };
        let found = canonical(&[], op.clone(), &[real(161, &x)]);
        let exact = Fixture::new(&[], &[], 0).run::<f64>(op, &[real(161, &x)]);
        for (index, &x) in x.iter().enumerate() {
            let expected = formula(f64::from(x));
            let near = |found: f64, tolerance: f64| (found - expected).abs() <= tolerance;
            let found = f64::from(found.reals()[index]);
            // The soft cap subtracts two numbers near 1 and multiplies by the cap.
            assert!(near(found, 4e-6), "{function:?}({x}) = {found}, expected {expected}");
            let exact = exact[0].reals()[index];
            assert!(near(exact, 2e-14), "{function:?}({x}) = {exact}, expected {expected}");
        }
    }
    let x = real(4, &[1e4, -1e4, 0.0, f32::NAN]);
    let y = canonical(&[], def::unary::Unary { function: Activation::Gelu }, &[x]);
    assert_eq!(y.reals()[..3], [1e4, 0.0, 0.0]);
    assert!(y.reals()[3].is_nan());
}

#[test]
fn norms() {
    // mean of squares (9 + 16 + 0 + 75) / 4 = 25.
    let x = [3.0, 4.0, 0.0, 75_f32.sqrt()];
    let weight = [1.0, 2.0, 3.0, 0.0];
    let op = RmsNorm { weight: WeightId(0), eps: 0.0 };
    let y = canonical(&[vector(&weight)], op, &[real(4, &x)]);
    let expected = [0.6, 1.6, 0.0, 0.0];
    assert!(y.reals().iter().zip(expected).all(|(y, e)| (y - e).abs() < 1e-6), "{y:?}");
    // Two heads of one row are normed apart, with one weight.
    let op = QkNorm { weight: WeightId(0), eps: 1e-6, head_dim: 2 };
    let y = canonical(&[vector(&[1.0, 10.0])], op, &[real(4, &[3.0, 3.0, 0.0, 5.0])]);
    let expected = [1.0, 10.0, 0.0, 10.0 * 2_f32.sqrt()];
    assert!(y.reals().iter().zip(expected).all(|(y, e)| (y - e).abs() < 1e-4), "{y:?}");
    // eps is inside the root.
    let op = RmsNorm { weight: WeightId(0), eps: 1.0 };
    let y = canonical(&[vector(&[1.0])], op, &[real(1, &[0.0])]);
    assert_eq!(y.reals(), [0.0]);
}

#[test]
fn softmax_sums_to_one_and_spreads_faults() {
    let y = canonical(&[], def::softmax::Softmax, &[real(3, &[1000.0, 1000.0, f32::NEG_INFINITY])]);
    assert_eq!(y.reals(), [0.5, 0.5, 0.0]);
    let y = canonical(&[], def::softmax::Softmax, &[real(2, &[0.0, 3_f32.ln(), f32::NAN, 1.0])]);
    assert!((y.reals()[0] - 0.25).abs() < 1e-6 && (y.reals()[1] - 0.75).abs() < 1e-6);
    assert!(y.reals()[2].is_nan() && y.reals()[3].is_nan());
}

#[test]
fn rope_turns_pairs_by_position() {
    let quarter = std::f64::consts::FRAC_PI_2;
    let rope = |pairs, magnitude| Rope {
        head_dim: 6,
        pairs,
        frequencies: Arc::new([quarter, 2.0 * quarter]),
        magnitude,
    };
    let x: Tensor<f32> = real(6, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0].repeat(2));
    let positions = Tensor::index(1, vec![0, 1]);
    let y = canonical(&[], rope(Pairs::Interleaved, 1.0), &[x.clone(), positions.clone()]);
    assert_eq!(y.reals()[..6], x.reals()[..6], "position 0 turns by nothing");
    let near = |found: &[f32], expected: [f32; 6]| {
        found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5)
    };
    // (1, 2) by 90°, (3, 4) by 180°; the rest stays.
    assert!(near(&y.reals()[6..], [-2.0, 1.0, -3.0, -4.0, 5.0, 6.0]), "{y:?}");
    let y = canonical(&[], rope(Pairs::HalfSplit, 2.0), &[x, positions]);
    // (1, 3) by 90°, (2, 4) by 180°, doubled.
    assert!(near(&y.reals()[6..], [-6.0, -4.0, 2.0, -8.0, 5.0, 6.0]), "{y:?}");
}

#[test]
fn rows_are_picked_and_embedded() {
    let table: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let op = def::embed::Embed { weight: WeightId(0) };
    let ids = Tensor::index(1, vec![2, 0, -1, 3]);
    let y = canonical(&[(Quant::F16, 1, 4, 3, table)], op, &[ids]);
    assert_eq!(y.reals()[..6], [6.0, 7.0, 8.0, 0.0, 1.0, 2.0]);
    assert!(y.reals()[6..9].iter().all(|x| x.is_nan()), "an id of −1");
    assert_eq!(y.reals()[9..], [9.0, 10.0, 11.0]);
    let rows = Tensor::index(1, vec![3, 1]);
    let y =
        canonical(&[], def::get_rows::GetRows, &[real(2, &[0., 1., 2., 3., 4., 5., 6., 7.]), rows]);
    assert_eq!(y.reals(), [6.0, 7.0, 2.0, 3.0]);
}

#[test]
fn quantized_rows_keep_the_rule() {
    let mut values = vec![0.0_f32; 96];
    values[..4].copy_from_slice(&[127.0, 0.5, 1.5, -63.5]);
    values[32] = f32::NAN;
    values[64] = 1e-38;
    let x = [real(96, &values)];
    let Tensor::Quantized { bytes, .. } = canonical(&[], QuantizeRows { dtype: DType::Q8_0 }, &x)
    else {
        panic!("a quantized value");
    };
    let q: Vec<i8> = bytes[..96].iter().map(|b| b.cast_signed()).collect();
    // Ties go to even: 0.5 to 0, 1.5 to 2, −63.5 to −64.
    assert_eq!(q[..4], [127, 0, 2, -64]);
    assert!(q[4..].iter().all(|&q| q == 0), "a faulty block, and one too small for an inverse");
    let words: Vec<[u8; 4]> = bytes[96..].as_chunks::<4>().0.to_vec();
    let scales: Vec<f32> = words[..3].iter().map(|w| f32::from_ne_bytes(*w)).collect();
    let sums: Vec<i32> = words[3..].iter().map(|w| i32::from_ne_bytes(*w)).collect();
    assert_eq!((scales[0], scales[2]), (1.0, 1e-38 / 127.0));
    assert!(scales[1].is_nan());
    assert_eq!(sums, [65, 0, 0]);

    let values: Vec<f32> = (0..512).map(|k| (k % 256) as f32 - 127.0).collect();
    let x = [real(512, &values)];
    let Tensor::Quantized { bytes, .. } = canonical(&[], QuantizeRows { dtype: DType::Q8_K }, &x)
    else {
        panic!("a quantized value");
    };
    assert_eq!(bytes.len(), 512 + 2 * 4 + 32 * 2);
    assert_eq!(f32::from_ne_bytes(*bytes[516..].first_chunk().expect("a scale")), 128.0 / 127.0);
    let q: Vec<i8> = bytes[..512].iter().map(|b| b.cast_signed()).collect();
    assert_eq!((q[0], q[127], q[255]), (-126, 0, 127));
    let sums: Vec<i16> =
        bytes[520..].as_chunks::<2>().0.iter().map(|b| i16::from_ne_bytes(*b)).collect();
    let expected = q.chunks(16).map(|q| q.iter().map(|&q| i16::from(q)).sum::<i16>());
    assert_eq!(sums, expected.collect::<Vec<_>>());
}

#[test]
fn matmuls_by_hand() {
    let matrix = (Quant::BF16, 1, 2, 3, vec![1.0, 2.0, 3.0, -1.0, 0.5, 0.0]);
    let bias = vector(&[10.0, 20.0]);
    let x = [real(3, &[1.0, 1.0, 1.0, 2.0, 0.0, 1.0])];
    let matmul = |bias| Matmul::new(WeightId(0), bias);
    let given = [matrix, bias];
    assert_eq!(canonical(&given, matmul(None), &x).reals(), [6.0, -0.5, 5.0, -2.0]);
    let y = canonical(&given, matmul(Some(WeightId(1))), &x);
    assert_eq!(y.reals(), [16.0, 19.5, 15.0, 18.0]);
    // A group takes each member's own operand.
    let mut second = Member::new(WeightId(0), Some(WeightId(1)));
    second.operand = 1;
    let group = MatmulGroup { members: vec![Member::new(WeightId(0), None), second] };
    let y = Fixture::new(&given, &[], 0).run::<f32>(group, &[x[0].clone(), real(3, &[0.0; 6])]);
    assert_eq!(y[0].reals(), [6.0, -0.5, 5.0, -2.0]);
    assert_eq!(y[1].reals(), [10.0, 20.0, 10.0, 20.0]);
    // 1 / rms of (1, 1, 1) is 1; the weight of the norm goes in before the matrix.
    let norm = NormMatmul {
        weight: WeightId(2),
        eps: 0.0,
        members: vec![Member::new(WeightId(0), Some(WeightId(1)))],
    };
    let given = [given[0].clone(), given[1].clone(), vector(&[1.0, 2.0, 0.0])];
    let y = canonical(&given, norm, &[real(3, &[1.0, 1.0, 1.0])]);
    assert_eq!(y.reals(), [15.0, 20.0]);
}

#[test]
fn a_shared_out_matmul_has_the_bits_of_each_row_alone() {
    let mut random = Random::new(11);
    let (n, k) = (257, 512);
    for (quant, dtype) in [(Quant::Q4_K, DType::Q8_K), (Quant::Q4_1, DType::Q8_0)] {
        let given = [(quant, 1, n, k, random.values(n * k, 0.5))];
        let x = random.values(5 * k, 1.0);
        let quantized = |x: &[f32]| canonical(&[], QuantizeRows { dtype }, &[real(k, x)]);
        let matmul = Matmul::new(WeightId(0), None);
        for operand in [&quantized as &dyn Fn(&[f32]) -> Tensor<f32>, &|x| real(k, x)] {
            let all = canonical(&given, matmul.clone(), &[operand(&x)]);
            for (row, x) in x.chunks(k).enumerate() {
                let alone = canonical(&given, matmul.clone(), &[operand(x)]);
                assert_eq!(alone.reals(), &all.reals()[row * n..][..n]);
            }
        }
    }
}

#[test]
fn quantized_matmul_in_f64_multiplies_the_quantized_numbers() {
    let mut random = Random::new(12);
    let (n, k) = (8, 256);
    let given = [(Quant::Q6_K, 1, n, k, random.values(n * k, 0.5))];
    let x = random.values(k, 1.0);
    let mut fixture = Fixture::new(&given, &[], 0);
    let quantize = QuantizeRows { dtype: DType::Q8_K };
    let matmul = Matmul::new(WeightId(0), None);
    let in_f32 = fixture.run::<f32>(quantize.clone(), &[real(k, &x)]);
    let in_f64 = fixture.run::<f64>(quantize, &[real(k, &x)]);
    assert_eq!(in_f32[0].to_bytes(), in_f64[0].to_bytes());
    let in_f32 = fixture.run(matmul.clone(), &in_f32);
    let in_f64 = fixture.run(matmul.clone(), &in_f64);
    let unquantized = fixture.run::<f64>(matmul, &[real(k, &x)]);
    let distance = |a: &[f64]| {
        let pairs = in_f32[0].reals().iter().zip(a);
        pairs.fold(0.0_f64, |m, (&a, b)| m.max((f64::from(a) - b).abs()))
    };
    assert!(distance(in_f64[0].reals()) < 1e-5);
    assert!(distance(unquantized[0].reals()) > 1e-3, "quantization must be in the numbers");
}

#[test]
fn experts_are_routed_multiplied_and_combined() {
    let x = [real(4, &[0.1, 0.4, 0.4, 0.1, 0.0, f32::NAN, 0.5, 0.5])];
    let route = |normalize| Route { used: 2, normalize };
    let y = Fixture::new(&[], &[], 0).run::<f32>(route(false), &x);
    assert_eq!(y[0].indices(), [1, 2, 0, 1], "ties to the lower; a NaN row in order");
    assert_eq!(y[1].reals()[..2], [0.4, 0.4]);
    assert!(y[1].reals()[2..].iter().all(|w| w.is_nan()));
    let y = Fixture::new(&[], &[], 0).run::<f32>(route(true), &x);
    assert_eq!(y[1].reals()[..2], [0.5, 0.5]);

    // Three experts of 2 × 2: the identity, twice it, a swap.
    let experts = vec![1., 0., 0., 1., 2., 0., 0., 2., 0., 1., 1., 0.];
    let given = [(Quant::F32, 3, 2, 2, experts)];
    let chosen = Tensor::index(2, vec![2, 0, 1, 2]);
    let op = ExpertMatmul { weight: WeightId(0) };
    let y = canonical(&given, op.clone(), &[real(2, &[3.0, 5.0, 7.0, 9.0]), chosen.clone()]);
    assert_eq!(y.reals(), [5.0, 3.0, 3.0, 5.0, 14.0, 18.0, 9.0, 7.0]);
    let y = canonical(&given, op, &[y, chosen]);
    assert_eq!(y.reals(), [3.0, 5.0, 3.0, 5.0, 28.0, 36.0, 7.0, 9.0], "a row for each expert");
    let y = canonical(&[], ExpertCombine, &[y, real(2, &[0.5, 2.0, 1.0, -1.0])]);
    assert_eq!(y.reals(), [7.5, 12.5, 21.0, 27.0]);
}

#[test]
fn the_largest_come_first() {
    let x = [real(4, &[1.0, 3.0, 3.0, 2.0, 0.0, f32::NAN, 9.0, 1.0])];
    assert_eq!(canonical(&[], def::argmax::Argmax, &x).indices(), [1, -1]);
    let y = Fixture::new(&[], &[], 0).run::<f32>(TopK { k: 3 }, &x);
    assert_eq!(y[0].indices(), [1, 2, 3, -1, -1, -1]);
    assert_eq!(y[1].reals()[..3], [3.0, 3.0, 2.0]);
    assert!(y[1].reals()[3..].iter().all(|x| x.is_nan()));
}

#[test]
fn canonical_stays_near_f64() {
    let mut random = Random::new(20);
    let n = 192;
    let mut rows = || (n, random.values(4 * n, 3.0));
    let (a, b) = (rows(), rows());
    let both = [a.clone(), b];
    let one = [a];
    let mut random = Random::new(21);
    let matrix = |random: &mut Random| (Quant::F16, 1, 40, n, random.values(40 * n, 0.3));
    let given = [
        vector(&random.values(n, 1.5)),
        matrix(&mut random),
        matrix(&mut random),
        vector(&random.values(40, 1.0)),
        vector(&random.values(64, 1.5)),
    ];
    let members =
        || vec![Member::new(WeightId(1), Some(WeightId(3))), Member::new(WeightId(2), None)];
    let (weight, eps) = (WeightId(0), 1e-5);
    agree(&[], def::add::Add, &both, 1e-7);
    agree(&[], def::mul::Mul, &both, 1e-7);
    agree(&[], def::scale::Scale { factor: 0.3 }, &one, 1e-7);
    for function in [Activation::Silu, Activation::Gelu, Activation::SoftCap(2.0)] {
        agree(&[], def::unary::Unary { function }, &one, 5e-7);
        agree(&[], def::glu::Glu { function }, &both, 5e-7);
        agree(
            &given,
            def::gate_up::GateUp { members: same(WeightId(1)), input_norm: None, function },
            &one,
            2e-6,
        );
    }
    agree(&given, RmsNorm { weight, eps }, &one, 5e-7);
    agree(&given, QkNorm { weight: WeightId(4), eps, head_dim: 64 }, &one, 5e-7);
    agree(&given, def::add_norm::AddNorm { weight, eps }, &both, 1e-6);
    agree(&given, NormMatmul { weight, eps, members: members() }, &one, 2e-6);
    agree(&given, MatmulGroup { members: members() }, &one, 2e-6);
    agree(&given, Matmul::new(WeightId(2), None), &one, 2e-6);
    agree(&[], def::softmax::Softmax, &one, 1e-6);
    agree(&[], ExpertCombine, &[(n, Random::new(22).values(4 * n, 1.0)), (2, vec![0.3; 4])], 1e-6);
}

fn same(weight: WeightId) -> Vec<Member> {
    vec![Member::new(weight, None), Member::new(weight, None)]
}

#[test]
fn composites_have_the_bits_of_their_parts() {
    let mut random = Random::new(30);
    let n = 256;
    let given = [
        vector(&random.values(n, 1.5)),
        (Quant::Q8_0, 1, 64, n, random.values(64 * n, 0.3)),
        (Quant::Q8_0, 1, 64, n, random.values(64 * n, 0.3)),
    ];
    let (weight, eps, function) = (WeightId(0), 1e-5, Activation::Silu);
    let mut fixture = Fixture::new(&given, &[], 0);
    let a: Tensor<f32> = real(n, &random.values(3 * n, 2.0));
    let b: Tensor<f32> = real(n, &random.values(3 * n, 2.0));
    let sum = fixture.run(def::add::Add, &[a.clone(), b.clone()]).remove(0);
    let normed = fixture.run(RmsNorm { weight, eps }, std::slice::from_ref(&sum)).remove(0);
    let add_norm = fixture.run(def::add_norm::AddNorm { weight, eps }, &[a.clone(), b.clone()]);
    assert_eq!(add_norm, [sum.clone(), normed.clone()]);
    let act = fixture.run(def::unary::Unary { function }, std::slice::from_ref(&a)).remove(0);
    let product = fixture.run(def::mul::Mul, &[act, b.clone()]);
    assert_eq!(fixture.run(def::glu::Glu { function }, &[a.clone(), b.clone()]), product);
    for dtype in [DType::Q8_0, DType::Q8_K] {
        let quantize = QuantizeRows { dtype };
        let expected = fixture.run(quantize.clone(), std::slice::from_ref(&normed));
        let op = def::norm_quantize::NormQuantize { weight, eps, dtype };
        assert_eq!(fixture.run(op, std::slice::from_ref(&sum)), expected);
        let expected = fixture.run(quantize, &product);
        let op = def::glu_quantize::GluQuantize { function, dtype };
        assert_eq!(fixture.run(op, &[a.clone(), b.clone()]), expected);
    }
    let quantized = fixture.run(QuantizeRows { dtype: DType::Q8_0 }, &[a]);
    let members = vec![Member::new(WeightId(1), None), Member::new(WeightId(2), None)];
    let both = fixture.run(MatmulGroup { members: members.clone() }, &quantized);
    let expected = fixture.run(def::glu::Glu { function }, &both);
    let gate_up = def::gate_up::GateUp { members, input_norm: None, function };
    assert_eq!(fixture.run(gate_up.clone(), &quantized), expected);
    let input_norm = Some(RmsNorm { weight, eps });
    let expected = fixture.run(gate_up.clone(), std::slice::from_ref(&normed));
    let taken_in = def::gate_up::GateUp { input_norm, ..gate_up };
    assert_eq!(fixture.run(taken_in, std::slice::from_ref(&sum)), expected);
    let expected = fixture.run(def::add::Add, &[normed, b.clone()]);
    let norm_add = def::norm_add::NormAdd { weight, eps };
    assert_eq!(fixture.run(norm_add, &[sum.clone(), b]), expected);
    let matmul = Matmul::new(WeightId(1), None);
    let product = fixture.run(matmul, &quantized).remove(0);
    let residual: Tensor<f32> = real(64, &random.values(3 * 64, 2.0));
    let expected = fixture.run(def::add::Add, &[product, residual.clone()]);
    let matmul_add = def::matmul_add::MatmulAdd { weight: WeightId(1), bias: None };
    assert_eq!(fixture.run(matmul_add, &[quantized[0].clone(), residual]), expected);
}
