use super::*;
use crate::simd::{self, Isa, ROWS};
use minfer_quant::{DType, Planes};

/// A small generator of bytes, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// A value of about unit size.
    fn float(&mut self) -> f32 {
        (self.next() % 20_001) as f32 / 10_000.0 - 1.0
    }
}

fn instruction_sets() -> impl Iterator<Item = Simd> {
    Isa::ALL.iter().filter_map(|isa| Simd::new(*isa))
}

fn scalar() -> Simd {
    Simd::new(Isa::Scalar).unwrap()
}

/// Every pair of a weight format and a type of quantized rows that it takes.
fn pairs() -> impl Iterator<Item = (Quant, DType)> {
    let integer = Quant::ALL.iter().filter(|quant| quant.activations() != DType::F32);
    integer.flat_map(|&quant| {
        let mut types = vec![quant.activations(), quant.fine_activations()];
        types.dedup();
        types.into_iter().map(move |dtype| (quant, dtype))
    })
}

/// Weight rows: random bits, with scales that are numbers unless `wild`.
fn weights(
    random: &mut Random,
    quant: Quant,
    rows: usize,
    cols: usize,
    wild: bool,
) -> Vec<Vec<u8>> {
    let row_bytes = quant.row_bytes(cols).unwrap();
    let scales: &[usize] = match quant {
        Quant::Q4_0 | Quant::Q5_0 | Quant::Q8_0 | Quant::IQ4_NL | Quant::IQ4_XS => &[0],
        Quant::IQ1_S | Quant::IQ2_XXS | Quant::IQ2_XS | Quant::IQ2_S => &[0],
        Quant::IQ3_XXS | Quant::IQ3_S => &[0],
        Quant::TQ1_0 => &[52],
        Quant::TQ2_0 => &[64],
        Quant::Q4_1 | Quant::Q5_1 | Quant::Q4_K | Quant::Q5_K => &[0, 2],
        Quant::Q2_K => &[80, 82],
        Quant::Q3_K => &[108],
        Quant::Q6_K => &[208],
        Quant::Q8_K | Quant::MXFP4 | Quant::NVFP4 | Quant::IQ1_M => &[],
        Quant::F32 | Quant::F16 | Quant::BF16 => panic!("no integer products"),
    };
    let row = |random: &mut Random| {
        let mut row = random.bytes(row_bytes);
        for block in row.chunks_mut(quant.block_bytes()) {
            for at in scales.iter().filter(|_| !wild) {
                let scale = half::f16::from_f32(random.float() / 16.0);
                block[*at..at + 2].copy_from_slice(&scale.to_le_bytes());
            }
            match quant {
                Quant::Q8_K if !wild => {
                    block[..4].copy_from_slice(&(random.float() / 64.0).to_le_bytes());
                }
                Quant::MXFP4 if !wild => block[0] = 118 + (random.next() % 12) as u8,
                Quant::NVFP4 if !wild => block[..4].iter_mut().for_each(|code| *code &= 63),
                // An f16 from 2^-7 to 2^-3, whose top four bits these are.
                Quant::IQ1_M if !wild => block[55] = block[55] & 15 | 0x20,
                _other => {}
            }
        }
        row
    };
    (0..rows).map(|_| row(random)).collect()
}

/// Quantized activation rows with their planes, and the values they stand for.
fn activations(
    random: &mut Random,
    dtype: DType,
    rows: usize,
    cols: usize,
) -> (Planes, Vec<Vec<u8>>) {
    let planes = dtype.planes(cols).unwrap();
    let rows = (0..rows).map(|_| {
        let x: Vec<f32> = (0..cols).map(|_| random.float()).collect();
        quantized(dtype, &planes, &x)
    });
    let rows = rows.collect();
    (planes, rows)
}

fn quantized(dtype: DType, planes: &Planes, x: &[f32]) -> Vec<u8> {
    // Words keep the planes aligned.
    let mut words = vec![0_u32; planes.bytes() / 4];
    let [q, scales, sums] = planes.split_mut(bytemuck::cast_slice_mut(&mut words)).unwrap();
    let scales = bytemuck::cast_slice_mut(scales);
    match dtype {
        DType::Q8_0 => {
            let (q, sums) = (bytemuck::cast_slice_mut(q), bytemuck::cast_slice_mut(sums));
            simd::quantize_q8_0(scalar(), x, q, scales, sums);
        }
        DType::Q8_K => {
            let (q, sums) = (bytemuck::cast_slice_mut(q), bytemuck::cast_slice_mut(sums));
            simd::quantize_q8_k(scalar(), x, q, scales, sums);
        }
        DType::Q16_0 => {
            simd::quantize_q16_0(scalar(), x, bytemuck::cast_slice_mut(q), scales);
        }
        DType::F32 | DType::F16 | DType::BF16 | DType::I32 => panic!("not quantized"),
    }
    bytemuck::cast_slice(&words).to_vec()
}

/// Aligned copies of rows.
fn aligned(rows: &[Vec<u8>]) -> Vec<Vec<u32>> {
    let words = |row: &Vec<u8>| {
        row.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect()
    };
    rows.iter().map(words).collect()
}

/// The rows' dot products with activation rows of type `dtype`.
fn dots(
    simd: Simd,
    (quant, dtype): (Quant, DType),
    rows: &Rows<'_>,
    planes: &Planes,
    xs: &[Vec<u32>],
) -> Vec<Sums> {
    fn views<'a, X>(xs: &'a [Vec<u32>], view: impl Fn(&'a [u8]) -> X) -> Vec<X> {
        xs.iter().map(|x| view(bytemuck::cast_slice(x))).collect()
    }
    let mut acc = vec![Sums::default(); places(xs.len())];
    let blocks = rows[0].len() / quant.block_bytes();
    let mut room = vec![0.0; panel_bytes(xs.len(), blocks * quant.block_len()) / 4];
    match dtype {
        DType::Q8_0 => {
            let xs = views(xs, |x| Q8_0Row::new(planes, x));
            dots_q8_0(simd, quant, rows, &Q8_0Tile::new(&xs, &mut room), &mut acc);
        }
        DType::Q8_K => {
            let xs = views(xs, |x| Q8KRow::new(planes, x));
            dots_q8_k(simd, quant, rows, &Q8KTile::new(&xs, &mut room), &mut acc);
        }
        DType::Q16_0 => {
            let xs = views(xs, |x| Q16_0Row::new(planes, x));
            q8_0::dots_q16_0(simd, rows, &xs, &mut acc);
        }
        DType::F32 | DType::F16 | DType::BF16 | DType::I32 => panic!("not quantized"),
    }
    acc.truncate(xs.len());
    acc
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || (a == 0.0 && b == 0.0)
}

#[test]
fn every_instruction_set_gives_the_bits_of_plain_code() {
    for (quant, dtype) in pairs() {
        let mut random = Random(quant.gguf_id().into());
        let block = quant.block_len();
        for (blocks, tokens, wild) in [
            (1, 1, false),
            (2, 2, true),
            (3, 33, false),
            (5, 31, true),
            (17, 16, false),
            (18, 5, false),
        ] {
            let cols = blocks * block;
            let rows = weights(&mut random, quant, ROWS, cols, wild);
            let tile: Rows<'_> = std::array::from_fn(|r| rows[r].as_slice());
            let (planes, xs) = activations(&mut random, dtype, tokens, cols);
            let xs = aligned(&xs);
            let expected = dots(scalar(), (quant, dtype), &tile, &planes, &xs);
            for simd in instruction_sets() {
                let found = dots(simd, (quant, dtype), &tile, &planes, &xs);
                for (t, (a, b)) in expected.iter().zip(&found).enumerate() {
                    for r in 0..ROWS {
                        let at = format!("{quant:?} {dtype:?} {simd:?} token {t} row {r}");
                        assert!(same(a[r], b[r]), "{at}: {} and {}", a[r], b[r]);
                    }
                }
            }
        }
    }
}

#[test]
fn products_are_those_of_the_decoded_weights() {
    for (quant, dtype) in pairs() {
        let mut random = Random(77 + u64::from(quant.gguf_id()));
        let cols = 2 * 256;
        let rows = weights(&mut random, quant, ROWS, cols, false);
        let tile: Rows<'_> = std::array::from_fn(|r| rows[r].as_slice());
        let (planes, xs) = activations(&mut random, dtype, 4, cols);
        let xs = aligned(&xs);
        let found = dots(scalar(), (quant, dtype), &tile, &planes, &xs);
        for (x, found) in xs.iter().zip(&found) {
            let [q, scales, _] = planes.split(bytemuck::cast_slice(x)).unwrap();
            let scales: &[f32] = bytemuck::cast_slice(scales);
            let block = dtype.block_len();
            let level = |i: usize| match dtype {
                DType::Q16_0 => f64::from(bytemuck::cast_slice::<u8, i16>(q)[i]),
                _bytes => f64::from(q[i].cast_signed()),
            };
            for (row, found) in rows.iter().zip(found) {
                let mut w = vec![0.0; cols];
                quant.decode(row, &mut w).unwrap();
                let term = |i: usize| f64::from(w[i]) * f64::from(scales[i / block]) * level(i);
                let sum: f64 = (0..cols).map(term).sum();
                let size: f64 = (0..cols).map(|i| term(i).abs()).sum();
                let error = (f64::from(*found) - sum).abs();
                // Minima and weights cancel: their parts are larger than the terms.
                assert!(error <= 1e-5 * (size + 1.0), "{quant:?} {dtype:?}: {found} and {sum}");
            }
        }
    }
}

/// The largest values that formats and activations can hold: 16-bit sums must not overflow.
#[test]
fn extreme_values_do_not_saturate() {
    for (quant, dtype) in pairs() {
        let cols = 256;
        for (byte, sign) in [(0xff, 1.0), (0xff, -1.0), (0x00, 1.0), (0x80, 1.0), (0x7f, -1.0)] {
            let mut row = vec![byte; quant.row_bytes(cols).unwrap()];
            let mut random = Random(3);
            let sane = weights(&mut random, quant, 1, cols, false).remove(0);
            let (size, sane) = (quant.block_bytes(), &sane);
            for (block, sane) in row.chunks_mut(size).zip(sane.chunks(size)) {
                match quant {
                    Quant::Q2_K => block[80..].copy_from_slice(&sane[80..]),
                    Quant::Q3_K => block[108..].copy_from_slice(&sane[108..]),
                    Quant::Q6_K => block[208..].copy_from_slice(&sane[208..]),
                    Quant::IQ1_M => block[55] = sane[55],
                    Quant::TQ1_0 => block[52..].copy_from_slice(&sane[52..]),
                    Quant::TQ2_0 => block[64..].copy_from_slice(&sane[64..]),
                    Quant::MXFP4 => block[0] = sane[0],
                    _leading_scales => block[..4.min(size)].copy_from_slice(&sane[..4.min(size)]),
                }
            }
            let tile: Rows<'_> = [&row; ROWS];
            let planes = dtype.planes(cols).unwrap();
            let x: Vec<f32> = (0..cols).map(|i| if i % 7 == 6 { -sign } else { sign }).collect();
            let xs = aligned(&[quantized(dtype, &planes, &x)]);
            let expected = dots(scalar(), (quant, dtype), &tile, &planes, &xs);
            for simd in instruction_sets() {
                let found = dots(simd, (quant, dtype), &tile, &planes, &xs);
                let at = format!("{quant:?} {dtype:?} {simd:?} {byte:#x}");
                assert!((0..ROWS).all(|r| same(expected[0][r], found[0][r])), "{at}");
            }
        }
    }
}

#[test]
fn a_row_that_is_not_finite_makes_nan() {
    for dtype in [DType::Q8_0, DType::Q8_K, DType::Q16_0] {
        let cols = 512;
        let planes = dtype.planes(cols).unwrap();
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut x = vec![0.5; cols];
            x[300] = bad;
            let xs = aligned(&[quantized(dtype, &planes, &x)]);
            for (quant, _) in pairs().filter(|(_, takes)| *takes == dtype) {
                let rows = weights(&mut Random(9), quant, ROWS, cols, false);
                let tile: Rows<'_> = std::array::from_fn(|r| rows[r].as_slice());
                for simd in instruction_sets() {
                    let found = dots(simd, (quant, dtype), &tile, &planes, &xs);
                    assert!(found[0].iter().all(|x| x.is_nan()), "{}", quant.name());
                }
            }
        }
    }
}

#[test]
fn decoding_gives_the_bits_of_the_format() {
    let mut random = Random(5);
    for quant in Quant::ALL.iter().copied() {
        let cols = 3 * quant.block_len();
        let bytes = random.bytes(quant.row_bytes(cols).unwrap() + 1);
        for simd in instruction_sets() {
            // The second is unaligned.
            for bytes in [&bytes[..bytes.len() - 1], &bytes[1..]] {
                let (mut expected, mut found) = (vec![0.0; cols], vec![0.0; cols]);
                quant.decode(bytes, &mut expected).unwrap();
                decode(simd, quant, bytes, &mut found);
                let at = format!("{} {simd:?}", quant.name());
                assert!(expected.iter().zip(&found).all(|(a, b)| same(*a, *b)), "{at}");
            }
        }
    }
}
