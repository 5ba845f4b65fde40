//! Kernels without mistakes: right against float64, and silent in any order of lanes.

use std::sync::Arc;

use metal_sim::{Binding, Grid, Kernel, Launch, Library, Memory, Mode, Profile, Simulator};

use crate::kernels::{bytes, compile, floats, read};

/// Numbers between -1 and 1, always the same.
fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(747_796_405) + 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// A number that a half holds exactly, near `value`, and its bits.
fn half(value: f32) -> (f32, u16) {
    if value.abs() < 0.001 {
        return (0.0, 0);
    }
    let bits = value.to_bits() & 0xffff_e000;
    let exponent = ((bits >> 23) & 0xff) as i32 - 127;
    let sign = (bits >> 16) & 0x8000;
    let half = sign | ((exponent + 15) as u32) << 10 | (bits >> 13 & 0x3ff);
    (f32::from_bits(bits), half as u16)
}

/// The same for bfloat.
fn bfloat(value: f32) -> (f32, u16) {
    let bits = (value.to_bits() >> 16) as u16;
    (f32::from_bits(u32::from(bits) << 16), bits)
}

/// Numbers in one of the three formats: their values and their memory.
fn stored(values: &[f32], format: &str) -> (Vec<f64>, Arc<Memory>) {
    let exact = |value: f32| f64::from(value);
    if format == "f32" {
        return (values.iter().copied().map(exact).collect(), floats(values));
    }
    let pairs = values.iter().map(|&v| if format == "f16" { half(v) } else { bfloat(v) });
    let (values, bits): (Vec<f32>, Vec<u16>) = pairs.unzip();
    let memory: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    (values.into_iter().map(exact).collect(), bytes(&memory))
}

/// A kernel with its buffers, the last but one of which is its result.
struct Case {
    kernel: Kernel,
    buffers: Vec<Arc<Memory>>,
    arguments: Vec<u8>,
    output: usize,
    local: usize,
    groups: [u32; 3],
    threads: u32,
}

impl Case {
    fn launch(&self) -> Launch {
        let buffers = self.buffers.iter().enumerate();
        let mut bindings: Vec<_> =
            buffers.map(|(index, memory)| Binding::whole(index as u32, memory)).collect();
        let (index, bytes) = (self.buffers.len() as u32, self.arguments.clone());
        bindings.push(Binding::Bytes { index, bytes });
        Launch {
            kernel: self.kernel.clone(),
            bindings,
            threadgroup_memory: if self.local == 0 { vec![] } else { vec![(0, self.local)] },
            grid: Grid::Threadgroups(self.groups),
            threads_per_threadgroup: [self.threads, 1, 1],
        }
    }

    /// Runs it in three orders and compares with the reference, relative to its largest value.
    #[track_caller]
    fn check(&self, expected: &[f64], tolerance: f64) {
        let launch = self.launch();
        let largest = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for seed in 0..3 {
            let output = &self.buffers[self.output];
            output.write(0, &vec![0xff; output.len()]);
            let outcome =
                Simulator { seed, workers: 2, ..Simulator::new(Profile::M1) }.run(&launch);
            let name = self.kernel.name();
            assert!(outcome.reports.is_empty(), "{name}: {}", outcome.reports[0]);
            let found = read(output);
            assert_eq!(found.len(), expected.len());
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                let error = (f64::from(*found) - expected).abs() / largest;
                assert!(error < tolerance, "{name}[{index}]: {found}, not {expected}");
            }
        }
    }
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn both(file: &str, test: impl Fn(&Library)) {
    for mode in [Mode::Fast, Mode::Checked] {
        if let Some(library) = compile(&format!("kernels/{file}"), mode) {
            test(&library);
        }
    }
}

#[test]
fn rms_norm() {
    let (rows, length, eps) = (5, 576, 1e-5_f32);
    let (x, w) = (noise(rows * length, 1), noise(length, 2));
    let mut expected = Vec::new();
    for row in x.chunks(length) {
        let mean = row.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / length as f64;
        let scale = 1.0 / (mean + f64::from(eps)).sqrt();
        expected.extend(row.iter().zip(&w).map(|(&x, &w)| f64::from(x) * scale * f64::from(w)));
    }
    both("rms_norm.metal", |library| {
        for (kernel, threads) in [("by_simdgroup_f32", 32), ("by_threadgroup", 256)] {
            let case = Case {
                kernel: library.kernel(kernel).expect("the kernel"),
                buffers: vec![floats(&x), floats(&w), floats(&vec![0.0; x.len()])],
                arguments: words(&[length as u32, eps.to_bits()]),
                output: 2,
                local: 0,
                groups: [rows as u32, 1, 1],
                threads,
            };
            case.check(&expected, 1e-6);
        }
    });
}

#[test]
fn q4_matvec() {
    let (rows, columns) = (61, 576);
    let x = noise(columns, 3);
    let mut expected = Vec::new();
    let mut weights = Vec::new();
    for row in 0..rows {
        let mut sum = 0.0;
        for block in 0..columns / 32 {
            let (scale, bits) = half(noise(1, (row * 100 + block) as u32)[0]);
            let nibbles: Vec<u8> = noise(16, (row * 991 + block) as u32)
                .iter()
                .map(|v| (v * 127.0) as i8 as u8)
                .collect();
            weights.extend(bits.to_le_bytes());
            weights.extend(&nibbles);
            for (i, &two) in nibbles.iter().enumerate() {
                let x = &x[block * 32..];
                sum += f64::from(scale) * f64::from(x[i]) * f64::from(i32::from(two & 15) - 8);
                sum += f64::from(scale) * f64::from(x[i + 16]) * f64::from(i32::from(two >> 4) - 8);
            }
        }
        expected.push(sum);
    }
    both("q4_matvec.metal", |library| {
        let kernel = library.kernel("q4_matvec").expect("the kernel");
        for rows_each in [1_u32, 4] {
            let constant = [(0, rows_each.to_le_bytes().to_vec())];
            let case = Case {
                kernel: kernel.clone().with_constants(&constant).expect("a constant"),
                buffers: vec![bytes(&weights), floats(&x), floats(&vec![0.0; rows])],
                arguments: words(&[rows as u32, columns as u32]),
                output: 2,
                local: 0,
                groups: [(rows as u32).div_ceil(4 * rows_each), 1, 1],
                threads: 128,
            };
            case.check(&expected, 1e-6);
        }
    });
}

#[test]
fn gemm() {
    let (m, n, k) = (70, 45, 40);
    let (a, b) = (noise(m * k, 4), noise(n * k, 5));
    both("gemm.metal", |library| {
        for format in ["f32", "f16", "bf16"] {
            let ((a, left), (b, right)) = (stored(&a, format), stored(&b, format));
            let at = |i: usize| {
                let (row, column) = (&a[i / n * k..][..k], &b[i % n * k..][..k]);
                row.iter().zip(column).map(|(x, y)| x * y).sum()
            };
            let expected: Vec<f64> = (0..m * n).map(at).collect();
            let case = Case {
                kernel: library.kernel(&format!("gemm_{format}")).expect("the kernel"),
                buffers: vec![left, right, floats(&vec![0.0; m * n])],
                arguments: words(&[m as u32, n as u32, k as u32]),
                output: 2,
                local: 96 * 32 * 4,
                groups: [(n as u32).div_ceil(32), (m as u32).div_ceil(64), 1],
                threads: 128,
            };
            case.check(&expected, 2e-6);
        }
    });
}

/// Attention in float64.
fn attention(q: &[f32], k: &[f64], v: &[f64], [heads, kv_heads, d]: [usize; 3]) -> Vec<f64> {
    let positions = k.len() / (kv_heads * d);
    let scale = f64::from(1.0 / (d as f32).sqrt());
    let mut out = Vec::new();
    for head in 0..heads {
        let at = |p: usize| (p * kv_heads + head / (heads / kv_heads)) * d;
        let score = |p: usize| {
            let pairs = q[head * d..][..d].iter().zip(&k[at(p)..]);
            pairs.map(|(&q, k)| f64::from(q) * scale * k).sum::<f64>().exp()
        };
        let weights: Vec<f64> = (0..positions).map(score).collect();
        let total: f64 = weights.iter().sum();
        let value =
            |e: usize| (0..positions).map(|p| weights[p] * v[at(p) + e]).sum::<f64>() / total;
        out.extend((0..d).map(value));
    }
    out
}

#[test]
fn flash_decode() {
    both("flash_decode.metal", |library| {
        for (format, d) in [("f32", 64), ("f16", 128)] {
            for positions in [1, 33] {
                let (heads, kv_heads) = (6, 2);
                let q = noise(heads * d, 6);
                let (keys, k) = stored(&noise(positions * kv_heads * d, 7), format);
                let (values, v) = stored(&noise(positions * kv_heads * d, 8), format);
                let expected = attention(&q, &keys, &values, [heads, kv_heads, d]);
                let scale = 1.0 / (d as f32).sqrt();
                let shape = [positions as u32, kv_heads as u32, (heads / kv_heads) as u32];
                let case = Case {
                    kernel: library.kernel(&format!("flash_decode_{format}_{d}")).expect("it"),
                    buffers: vec![floats(&q), k, v, floats(&vec![0.0; heads * d])],
                    arguments: words(&[shape[0], shape[1], shape[2], scale.to_bits()]),
                    output: 3,
                    local: 0,
                    groups: [heads as u32, 1, 1],
                    threads: 128,
                };
                case.check(&expected, 2e-6);
            }
        }
    });
}
