use std::ops::Range;

use half::{bf16, f16};
use minfer_graph::Activation;
use minfer_graph::op::rope::Pairs;

use super::*;

/// Lengths around the widths of vectors and of the 16 virtual lanes.
const LENGTHS: [usize; 14] = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 576];

/// Values of many sizes, from -2^range to 2^range.
fn values(seed: u64, len: usize, range: i32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let value = |bits: u64| {
        let mantissa = (bits % (1 << 24)) as f32 / (1 << 23) as f32 - 1.0;
        mantissa * 2.0_f32.powi((bits >> 40) as i32 % (range + 1))
    };
    (0..len).map(|_| value(next())).collect()
}

fn scalar() -> Simd {
    Simd::new(Isa::Scalar).unwrap()
}

fn others() -> Vec<Simd> {
    Isa::ALL[1..].iter().filter_map(|isa| Simd::new(*isa)).collect()
}

#[track_caller]
fn assert_same(expected: &[f32], found: &[f32], what: &str) {
    assert_eq!(expected.len(), found.len(), "{what}");
    for (i, (a, b)) in expected.iter().zip(found).enumerate() {
        let same =
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || (*a == 0.0 && *b == 0.0);
        assert!(same, "{what}: element {i} of {}: {a} and {b}", expected.len());
    }
}

/// Runs `kernel` on copies of `y` with each instruction set; `y` lies between guards that must not
/// change.
fn compare(what: &str, y: &[f32], kernel: impl Fn(Simd, &mut [f32])) {
    let run = |simd| {
        let mut guarded = vec![77.0; y.len() + 16];
        guarded[8..8 + y.len()].copy_from_slice(y);
        kernel(simd, &mut guarded[8..8 + y.len()]);
        guarded
    };
    let expected = run(scalar());
    for simd in others() {
        let found = run(simd);
        assert!(found[..8].iter().chain(&found[8 + y.len()..]).all(|x| *x == 77.0), "{what}");
        assert_same(&expected, &found, what);
    }
}

#[test]
fn the_best_instruction_set_is_here_and_processors_have_names() {
    assert!(Isa::best().is_here());
    assert!(Isa::Scalar.is_here());
    assert!(!processor().is_empty());
}

#[test]
fn exp_is_close_and_the_same_everywhere() {
    let mut x: Vec<f32> = (-10_500..9_000).map(|i| i as f32 / 100.0 + 0.003).collect();
    x.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e30, -1e30, 88.8, -103.9]);
    for x in x {
        let expected = exp(scalar(), x);
        for simd in others() {
            assert_same(&[expected], &[exp(simd, x)], "exp");
        }
        let exact = f64::from(x).exp();
        let ulp = f64::from(f32::from_bits((exact as f32).to_bits() + 1) - exact as f32);
        if exact < f64::from(f32::MAX) && exact > f64::from(f32::MIN_POSITIVE) {
            assert!((f64::from(expected) - exact).abs() <= 2.0 * ulp, "exp({x}) = {expected}");
        }
    }
    assert_eq!(exp(scalar(), f32::NEG_INFINITY), 0.0);
    assert_eq!(exp(scalar(), f32::INFINITY), f32::INFINITY);
    assert_eq!(exp(scalar(), 0.0), 1.0);
    assert!(exp(scalar(), f32::NAN).is_nan());
}

#[test]
fn elementwise_loops_agree() {
    let functions = [Activation::Silu, Activation::Gelu, Activation::SoftCap(30.0)];
    for len in LENGTHS {
        let (mut y, x) = (values(1, len, 6), values(2, len, 6));
        for round in 0..2 {
            compare("add", &y, |simd, y| add(simd, y, &x));
            compare("mul", &y, |simd, y| mul(simd, y, &x));
            compare("scale", &y, |simd, y| scale(simd, y, 0.3));
            compare("axpy", &y, |simd, y| axpy(simd, y, &x, 0.7));
            compare("blend", &y, |simd, y| blend(simd, y, &x, 0.7, 1.1));
            for function in functions {
                compare(function.name(), &y, |simd, y| unary(simd, y, function));
                compare("glu", &y, |simd, y| glu(simd, y, &x, function));
            }
            compare("softmax", &y, softmax);
            compare("rms_norm", &y, |simd, y| rms_norm(simd, y, &x, 1e-6));
            // Once more with values that are not finite.
            y[len / 2] = [f32::NAN, f32::INFINITY][round];
            y[0] = f32::NEG_INFINITY;
        }
    }
}

#[test]
fn functions_are_what_they_are_called() {
    let x = values(4, 200, 3);
    let apply = |function| {
        let mut y = x.clone();
        unary(scalar(), &mut y, function);
        y.into_iter().map(f64::from).collect::<Vec<f64>>()
    };
    let (silu, gelu) = (apply(Activation::Silu), apply(Activation::Gelu));
    let cap = apply(Activation::SoftCap(5.0));
    for (i, x) in x.iter().map(|x| f64::from(*x)).enumerate() {
        let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        assert!((silu[i] - x / (1.0 + (-x).exp())).abs() < 1e-6 * (1.0 + x.abs()), "silu({x})");
        assert!((gelu[i] - x * 0.5 * (1.0 + u.tanh())).abs() < 1e-6 * (1.0 + x.abs()), "gelu({x})");
        assert!((cap[i] - 5.0 * (x / 5.0).tanh()).abs() < 2e-6, "soft_cap({x})");
    }
}

/// The float dot product as the rule says it.
fn by_the_rule(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    for k in 0..a.len() {
        lanes[k % 16] = a[k].mul_add(b[k], lanes[k % 16]);
    }
    for step in [8, 4, 2, 1] {
        for i in 0..step {
            lanes[i] += lanes[i + step];
        }
    }
    lanes[0]
}

/// Values as f16, and what is left of them.
fn halves(x: &[f32]) -> (Vec<u16>, Vec<f32>) {
    x.iter().map(|x| f16::from_f32(*x)).map(|x| (x.to_bits(), x.to_f32())).unzip()
}

/// Values as bf16, and what is left of them.
fn brains(x: &[f32]) -> (Vec<u16>, Vec<f32>) {
    x.iter().map(|x| bf16::from_f32(*x)).map(|x| (x.to_bits(), x.to_f32())).unzip()
}

#[test]
fn dot_products_are_in_lanes() {
    // With one column more and less than the parts in which long rows are gone through.
    for len in LENGTHS.into_iter().chain([511, 512, 513, 1040]) {
        let floats: Vec<Vec<f32>> = (0..16).map(|row| values(30 + row, len, 4)).collect();
        let halves: Vec<_> = floats.iter().map(|row| halves(row)).collect();
        let brains: Vec<_> = floats.iter().map(|row| brains(row)).collect();
        let (f16, bf16) =
            (std::array::from_fn(|r| &halves[r].0[..]), std::array::from_fn(|r| &brains[r].0[..]));
        let f32 = std::array::from_fn(|r| &floats[r][..]);
        let cases: [(Floats<'_>, [&[f32]; ROWS]); 3] = [
            (Floats::F32(f32), f32),
            (Floats::F16(f16), std::array::from_fn(|r| &halves[r].1[..])),
            (Floats::BF16(bf16), std::array::from_fn(|r| &brains[r].1[..])),
        ];
        // More vectors than any tile has.
        let xs: Vec<Vec<f32>> = (0..8).map(|t| values(60 + t, len, 4)).collect();
        let xs: Vec<&[f32]> = xs.iter().map(Vec::as_slice).collect();
        for (stored, rows) in &cases {
            let of = |x: &&[f32]| rows.map(|row| by_the_rule(row, x));
            let expected: Vec<[f32; ROWS]> = xs.iter().map(of).collect();
            for simd in Isa::ALL.iter().filter_map(|isa| Simd::new(*isa)) {
                for count in 0..=xs.len() {
                    let mut sums = vec![[77.0; ROWS]; xs.len()];
                    products(simd, stored, &xs[..count], &mut sums[..count]);
                    let what = format!("{simd:?}: {count} vectors of {len}");
                    let done = expected[..count].as_flattened();
                    assert_same(done, sums[..count].as_flattened(), &what);
                    assert!(sums[count..].as_flattened().iter().all(|sum| *sum == 77.0));
                }
            }
        }
    }
}

#[test]
fn quantized_rows_agree_and_come_back() {
    for blocks in 1..5 {
        for (seed, bad) in
            [(1, None), (2, Some(f32::NAN)), (3, Some(f32::INFINITY)), (4, Some(0.0))]
        {
            let mut x = values(seed, 256 * blocks, 5);
            match bad {
                // A block of zeros, and one too small for its factor.
                Some(0.0) => {
                    x[..32].fill(0.0);
                    x[32..64].fill(1e-41);
                }
                Some(bad) => x[200] = bad,
                None => {}
            }
            let run = |simd| {
                let (mut q, mut scales) = (vec![0; x.len()], vec![0.0; x.len() / 32]);
                let mut sums = vec![0; x.len() / 32];
                quantize_q8_0(simd, &x, &mut q, &mut scales, &mut sums);
                let (mut k, mut k_scales) = (vec![0; x.len()], vec![0.0; blocks]);
                let mut k_sums = vec![0; x.len() / 16];
                quantize_q8_k(simd, &x, &mut k, &mut k_scales, &mut k_sums);
                scales.extend(k_scales);
                (q, k, sums, k_sums, scales)
            };
            let (q, k, sums, k_sums, scales) = run(scalar());
            for simd in others() {
                let other = run(simd);
                assert_eq!((&q, &k, &sums, &k_sums), (&other.0, &other.1, &other.2, &other.3));
                assert_same(&scales, &other.4, "scales");
            }
            for (i, block) in q.chunks(32).enumerate() {
                assert_eq!(sums[i], block.iter().map(|q| i32::from(*q)).sum::<i32>());
                for (q, x) in block.iter().zip(&x[32 * i..]) {
                    let error = (f32::from(*q) * scales[i] - x).abs();
                    assert!(scales[i].is_nan() || error <= 0.5001 * scales[i] + 1e-40, "{q} {x}");
                }
            }
            for (sum, group) in k_sums.iter().zip(k.chunks(16)) {
                assert_eq!(i32::from(*sum), group.iter().map(|q| i32::from(*q)).sum::<i32>());
            }
        }
    }
}

#[test]
fn rotations_agree() {
    for n in [1, 3, 8, 11, 32] {
        let (cos, sin) = (values(5, n, 0), values(6, n, 0));
        let head = values(7, 2 * n + 3, 3);
        for pairs in [Pairs::Interleaved, Pairs::HalfSplit] {
            compare("rope", &head, |simd, head| rope(simd, head, &cos, &sin, pairs));
        }
    }
}

#[test]
fn the_largest_is_the_first_of_equals() {
    for simd in others().into_iter().chain([scalar()]) {
        for len in LENGTHS {
            let mut x = values(8, len, 2);
            let expected = (0..len).rev().max_by(|a, b| x[*a].total_cmp(&x[*b]));
            assert_eq!(largest(simd, &x), expected);
            x.fill(-1.0);
            assert_eq!(largest(simd, &x), Some(0));
            x[len - 1] = f32::NAN;
            assert_eq!(largest(simd, &x), None);
        }
        assert_eq!(largest(simd, &[f32::NEG_INFINITY; 9]), Some(0));
    }
}

#[test]
fn conversions_agree() {
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    compare("f16", &vec![0.0; 65_536], |simd, y| widen_f16(simd, &bits, y));
    compare("bf16", &vec![0.0; 65_536], |simd, y| widen_bf16(simd, &bits, y));
    compare("f16", &[0.0; 13], |simd, y| widen_f16(simd, &bits[15_000..15_013], y));
    let q: Vec<i8> = (0..64).map(|i| (i * 4 - 127) as i8).collect();
    compare("q8_0", &[0.0; 64], |simd, y| widen_q8_0(simd, &q, &[0x3555, 0x7e00], y));
    let x = values(9, 1003, 20);
    let narrow = |simd| {
        let mut bits = vec![0; x.len()];
        narrow_f16(simd, &x, &mut bits);
        bits
    };
    let expected: Vec<u16> = x.iter().map(|x| f16::from_f32(*x).to_bits()).collect();
    assert!(others().into_iter().chain([scalar()]).all(|simd| narrow(simd) == expected));
}

/// A tile of attention: queries and accumulators are rows of as many columns.
struct Attended<'a> {
    queries: usize,
    q: &'a [f32],
    acc: &'a [f32],
    live: Range<usize>,
    cap: Option<f32>,
}

impl Attended<'_> {
    /// Accumulators, weights, maxima and sums, factors.
    fn run(&self, simd: Simd, k: Tile<'_>, v: Tile<'_>) -> Vec<f32> {
        let (live, mut acc) = (self.live.clone(), self.acc.to_vec());
        let mut s = vec![[0.0; TILE]; self.queries];
        let (mut running, mut factors) = (vec![[-1.5, 0.5]; self.queries], vec![0.0; self.queries]);
        let scoring = Scoring { scale: 0.25, cap: self.cap };
        scores(simd, self.q, k, live.clone(), scoring, &mut s);
        weights(simd, &mut s, live.clone(), &mut running, &mut factors);
        accumulate(simd, &mut acc, &s, &factors, v, live);
        [&acc, s.as_flattened(), running.as_flattened(), &factors].concat()
    }

    /// The same as the rule says it.
    fn expected(&self, k: &[f32], v: &[f32]) -> Vec<f32> {
        let stride = self.q.len() / self.queries;
        let (mut acc, mut all) = (self.acc.to_vec(), [Vec::new(), Vec::new(), Vec::new()]);
        for (q, acc) in self.q.chunks(stride).zip(acc.chunks_mut(stride)) {
            let mut p = [f32::NEG_INFINITY; TILE];
            for j in self.live.clone() {
                p[j] = by_the_rule(q, &k[j * stride..][..stride]) * 0.25;
            }
            if let Some(cap) = self.cap {
                unary(scalar(), &mut p[self.live.clone()], Activation::SoftCap(cap));
            }
            let m = p.iter().fold(-1.5_f32, |m, s| m.max(*s));
            let c = exp(scalar(), -1.5 - m);
            p = p.map(|s| exp(scalar(), s - m));
            acc.iter_mut().for_each(|acc| *acc *= c);
            for j in self.live.clone() {
                for (acc, v) in acc.iter_mut().zip(&v[j * stride..]) {
                    *acc = p[j].mul_add(*v, *acc);
                }
            }
            all[0].extend(p);
            all[1].extend([m, 0.5_f32.mul_add(c, by_the_rule(&p, &[1.0; TILE]))]);
            all[2].push(c);
        }
        [acc, all.concat()].concat()
    }
}

#[test]
fn attention_tiles_are_as_the_rule_says() {
    for (stride, queries) in [(16, 1), (48, 3), (64, 4), (80, 7), (128, 13), (256, 2)] {
        let (q, acc) = (values(11, queries * stride, 1), values(13, queries * stride, 2));
        let (k, v) = (values(12, TILE * stride, 1), values(14, TILE * stride, 2));
        let (k_f16, v_f16) = (halves(&k), halves(&v));
        let (k_bf16, v_bf16) = (brains(&k), brains(&v));
        let cases = [
            (Tile::F32(&k), Tile::F32(&v), &k, &v),
            (Tile::F16(&k_f16.0), Tile::F16(&v_f16.0), &k_f16.1, &v_f16.1),
            (Tile::BF16(&k_bf16.0), Tile::BF16(&v_bf16.0), &k_bf16.1, &v_bf16.1),
        ];
        for (i, live) in [0..1, 0..32, 3..9, 7..8, 8..16, 31..32, 0..17].into_iter().enumerate() {
            let cap = [None, Some(20.0)][i % 2];
            let attended = Attended { queries, q: &q, acc: &acc, live, cap };
            for (k, v, k_wide, v_wide) in &cases {
                let expected = attended.expected(k_wide, v_wide);
                for simd in Isa::ALL.iter().filter_map(|isa| Simd::new(*isa)) {
                    let what = format!("{simd:?}: {queries} queries of {stride}");
                    assert_same(&expected, &attended.run(simd, *k, *v), &what);
                }
            }
        }
    }
}
