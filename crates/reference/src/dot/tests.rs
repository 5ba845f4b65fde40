//! Quantized dots against minfer-quant's decoding, which reads the same layouts by other code.

use minfer_quant::{DType, Quant};

use super::{Activations, Unpacked};
use crate::op::quantize_rows;
use crate::op::tests::Random;
use crate::tensor::Tensor;

/// Rows of any bits, but for scales in a sane range: they are what a file could hold.
fn stored_row(quant: Quant, cols: usize, random: &mut Random) -> Vec<u8> {
    if quant.can_encode() {
        let mut bytes = vec![0; quant.row_bytes(cols).expect("whole blocks")];
        quant.encode(&random.values(cols, 1.0), &mut bytes).expect("finite values");
        return bytes;
    }
    let mut bytes = random.bytes(quant.row_bytes(cols).expect("whole blocks"));
    for block in bytes.chunks_exact_mut(quant.block_bytes()) {
        match quant {
            Quant::MXFP4 => block[0] = 120 + block[0] % 8,
            Quant::NVFP4 => block[..4].iter_mut().for_each(|e| *e = 40 + *e % 24),
            // 0x2266, about 0.0125, in the tops of four words.
            Quant::IQ1_M => {
                for (at, half) in [(49, 0x60), (51, 0x60), (53, 0x20), (55, 0x20)] {
                    block[at] = block[at] & 15 | half;
                }
            }
            _leading_scale => {
                block[..2].copy_from_slice(&half::f16::from_f32(0.0125).to_le_bytes());
            }
        }
    }
    bytes
}

fn quantized_formats() -> Vec<(Quant, DType)> {
    let pairs = Quant::ALL.iter().map(|&quant| (quant, quant.activations()));
    pairs.filter(|(_, dtype)| *dtype != DType::F32).collect()
}

fn decode(quant: Quant, row: &[u8], cols: usize) -> Vec<f64> {
    let mut decoded = vec![0.0; cols];
    quant.decode(row, &mut decoded).expect("a whole row");
    decoded.into_iter().map(f64::from).collect()
}

#[test]
fn every_weight_of_a_row_is_read_where_it_lies() {
    let mut random = Random::new(3);
    for (quant, dtype) in quantized_formats() {
        let cols = 512;
        let row = stored_row(quant, cols, &mut random);
        let unpacked = Unpacked::row(quant, &row).expect("a quantized format");
        let decoded = decode(quant, &row, cols);
        let largest = decoded.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (k, expected) in decoded.iter().enumerate() {
            let (block, grain) = (dtype.block_len(), if dtype == DType::Q8_0 { 32 } else { 16 });
            let mut q = vec![0_i16; cols];
            q[k] = 1;
            let mut scales = vec![0.0; cols / block];
            scales[k / block] = 1.0;
            let mut sums = vec![0; cols / grain];
            sums[k / grain] = 1;
            let found = f64::from(unpacked.dot(&Activations { q, scales, sums }));
            let error = (found - expected).abs();
            assert!(error <= largest * 1e-6, "{quant:?}[{k}]: {found} instead of {expected}");
        }
    }
}

#[test]
fn a_dot_equals_that_of_the_decoded_numbers() {
    let mut random = Random::new(4);
    for (quant, dtype) in quantized_formats() {
        let cols = 1024;
        let row = stored_row(quant, cols, &mut random);
        let x = Tensor::<f32>::real(cols, random.values(cols, 2.0));
        let Tensor::Quantized { bytes, .. } = quantize_rows::run(dtype, &x) else {
            panic!("quantize_rows gives a quantized value");
        };
        let activations = Activations::read(dtype, cols, &bytes);
        let found = f64::from(Unpacked::row(quant, &row).expect("quantized").dot(&activations));
        let weights = decode(quant, &row, cols);
        let terms = weights.iter().zip(activations.values()).map(|(w, x)| w * x);
        let (expected, size) =
            terms.fold((0.0, 0.0), |(sum, size): (f64, f64), t| (sum + t, size + t.abs()));
        let error = (found - expected).abs();
        assert!(error <= size * 1e-6, "{quant:?}: {found} instead of {expected} (of {size})");
        assert!(expected.abs() > size * 1e-4, "{quant:?}: a case that zero would pass");
    }
}

#[test]
fn the_chain_runs_block_by_block_with_the_minimum_last() {
    // Two q4_1 blocks: d = 0.5, m = 0.25, all q = 3; then d = 1, m = -2, q = i % 16.
    let f16 = |x: f32| half::f16::from_f32(x).to_le_bytes();
    let mut row = [f16(0.5), f16(0.25)].concat();
    row.extend([0x33; 16]);
    row.extend([f16(1.0), f16(-2.0)].concat());
    row.extend((0..16).map(|i| i | i << 4));
    let q: Vec<i16> = (0..64).map(|k| k - 20).collect();
    let sums: Vec<i32> = q.chunks(32).map(|q| q.iter().map(|&q| i32::from(q)).sum()).collect();
    let scales = vec![0.1_f32, 0.3];
    let x = Activations { q, scales, sums };
    let second: i32 = (0..32).map(|k| (k % 16) * (k + 12)).sum();
    let mut acc = 0.0_f32;
    acc = ((3 * x.sums[0]) as f32).mul_add(0.5 * 0.1, acc);
    acc = (x.sums[0] as f32).mul_add(0.25 * 0.1, acc);
    acc = (second as f32).mul_add(1.0 * 0.3, acc);
    acc = (x.sums[1] as f32).mul_add(-2.0 * 0.3, acc);
    let found = Unpacked::row(Quant::Q4_1, &row).expect("quantized").dot(&x);
    assert_eq!(found.to_bits(), acc.to_bits());
}

#[test]
fn a_faulty_block_makes_the_dot_nan() {
    for (quant, dtype) in quantized_formats() {
        let mut values = vec![1.0_f32; 512];
        values[300] = f32::INFINITY;
        let Tensor::Quantized { bytes, .. } =
            quantize_rows::run(dtype, &Tensor::<f32>::real(512, values))
        else {
            panic!("quantize_rows gives a quantized value");
        };
        let row = stored_row(quant, 512, &mut Random::new(5));
        let dot = Unpacked::row(quant, &row).expect("quantized");
        assert!(dot.dot(&Activations::read(dtype, 512, &bytes)).is_nan(), "{quant:?}");
    }
}
