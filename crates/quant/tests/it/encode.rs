//! Encoders: how far a value may move, what stays put, what is refused.

use minfer_quant::{Error, Quant};
use proptest::prelude::*;

/// Formats of 32 values; a grid with (`true`) or without a minimum; its steps.
const SIMPLE: [(Quant, bool, f32); 5] = [
    (Quant::Q4_0, false, 8.0),
    (Quant::Q4_1, true, 15.0),
    (Quant::Q5_0, false, 16.0),
    (Quant::Q5_1, true, 31.0),
    (Quant::Q8_0, false, 127.0),
];

/// Formats of 256 values, and the largest error allowed, as a share of the block's range.
///
/// Lost are: half of the coarsest step that the fits try; on the short side of a signed grid up to
/// two steps more to clamping; half a unit of the sub-scales, times the levels, and of the minima.
const K_FORMATS: [(Quant, f32); 6] = [
    (Quant::Q2_K, 0.35),
    (Quant::Q3_K, 0.25),
    (Quant::Q4_K, 0.075),
    (Quant::Q5_K, 0.04),
    (Quant::Q6_K, 0.035),
    (Quant::Q8_K, 0.004),
];

/// Half a step of the subnormal `f16` range: how far a scale near 0 may be from what was meant.
const F16_TINY: f32 = 1.0 / (1 << 25) as f32;
/// Relative rounding of an `f16`.
const F16_ROUNDING: f32 = 1.0 / 2048.0;

fn encodable() -> impl Iterator<Item = Quant> {
    Quant::ALL.iter().copied().filter(|quant| quant.can_encode())
}

/// Formats whose scales cannot carry everything.
fn ranged() -> impl Iterator<Item = Quant> {
    encodable().filter(|quant| quant.block_len() > 1)
}

fn encode(quant: Quant, values: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0x5a; quant.row_bytes(values.len()).expect("whole blocks")];
    quant.encode(values, &mut bytes).unwrap_or_else(|error| panic!("{error}"));
    bytes
}

fn decode(quant: Quant, bytes: &[u8]) -> Vec<f32> {
    let mut values = vec![f32::NAN; bytes.len() / quant.block_bytes() * quant.block_len()];
    quant.decode(bytes, &mut values).expect("whole blocks");
    values
}

fn round_trip(quant: Quant, values: &[f32]) -> Vec<f32> {
    decode(quant, &encode(quant, values))
}

fn peak(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |peak, x| x.abs().max(peak))
}

fn min_max(values: &[f32]) -> (f32, f32) {
    values.iter().fold((f32::MAX, f32::MIN), |(min, max), x| (x.min(min), x.max(max)))
}

fn error_max(values: &[f32], decoded: &[f32]) -> f32 {
    values.iter().zip(decoded).fold(0.0, |error, (x, y)| (x - y).abs().max(error))
}

/// `n` values of one magnitude somewhere between 1e-9 and 65504, about a centre that is not 0.
fn block(n: usize) -> impl Strategy<Value = Vec<f32>> {
    let shape = prop::collection::vec(-1.0_f32..1.0, n);
    (shape, -9.0_f32..4.8, -1.0_f32..1.0).prop_map(|(shape, magnitude, centre)| {
        let scale = 10_f32.powf(magnitude) / 2.0;
        shape.iter().map(|x| (x + centre) * scale).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn simple_formats_stay_within_half_a_step(values in block(32)) {
        for (quant, affine, steps) in SIMPLE {
            let (min, max) = min_max(&values);
            let range = if affine { max - min } else { peak(&values) };
            let step = range / steps;
            // The far side of the signed grid is one step short: it is lost to clamping.
            let share = if quant == Quant::Q4_0 || quant == Quant::Q5_0 { 1.0 } else { 0.5 };
            let rounding = F16_ROUNDING * (peak(&values) + range);
            let bound = share * step + rounding + (steps + 1.0) * F16_TINY;
            let error = error_max(&values, &round_trip(quant, &values));
            prop_assert!(error <= bound, "{quant:?}: {error:e} > {bound:e}");
        }
    }

    #[test]
    fn simple_formats_keep_order(mut values in block(32)) {
        values.sort_by(f32::total_cmp);
        for (quant, _, _) in SIMPLE {
            prop_assert!(round_trip(quant, &values).is_sorted(), "{quant:?}");
        }
    }

    #[test]
    fn simple_formats_encode_what_they_decoded_to_the_same_bytes(
        shape in prop::collection::vec(-1.0_f32..1.0, 30),
        magnitude in -2.0_f32..4.0,
    ) {
        // Both signs at full size, so that a minimum is not large beside the step.
        let ends = [1.0, -1.0];
        let scale = 10_f32.powf(magnitude);
        let values: Vec<_> = ends.into_iter().chain(shape).map(|x| x * scale).collect();
        for (quant, _, _) in SIMPLE {
            let once = encode(quant, &values);
            prop_assert_eq!(&encode(quant, &decode(quant, &once)), &once, "{:?}", quant);
        }
    }

    #[test]
    fn k_formats_stay_within_their_share_of_the_range(values in block(256)) {
        for (quant, share) in K_FORMATS {
            let (min, max) = min_max(&values);
            let range = max.max(0.0) - min.min(0.0);
            let bound = share * range + 8192.0 * F16_TINY;
            let error = error_max(&values, &round_trip(quant, &values));
            prop_assert!(error <= bound, "{quant:?}: {error:e} > {bound:e}");
        }
    }

    #[test]
    fn ternary_formats_stay_within_half_of_the_largest(values in block(256)) {
        for quant in [Quant::TQ1_0, Quant::TQ2_0] {
            let bound = (0.5 + 2.0 * F16_ROUNDING) * peak(&values) + 2.0 * F16_TINY;
            let error = error_max(&values, &round_trip(quant, &values));
            prop_assert!(error <= bound, "{quant:?}: {error:e} > {bound:e}");
        }
    }

    #[test]
    fn floats_round_to_the_nearest_neighbour(bits in any::<u32>()) {
        let value = f32::from_bits(bits);
        prop_assert!(same(round_trip(Quant::F32, &[value])[0], value));
        for (quant, digits, smallest) in
            [(Quant::F16, 11, 2.0 * F16_TINY), (Quant::BF16, 8, f32::from_bits(1 << 16))]
        {
            let found = round_trip(quant, &[value])[0];
            if value.is_nan() {
                prop_assert!(found.is_nan(), "{quant:?}");
            } else if found.is_finite() {
                let half_step = (value.abs() * 0.5_f32.powi(digits)).max(smallest / 2.0);
                prop_assert!((found - value).abs() <= half_step, "{quant:?}: {value:e} {found:e}");
            } else {
                let limit = if quant == Quant::F16 { 65519.0 } else { 3.39e38 };
                prop_assert!(value.abs() > limit, "{quant:?}: {value:e} became {found}");
                prop_assert_eq!(found.is_sign_negative(), value.is_sign_negative());
            }
        }
    }

    #[test]
    fn no_bits_make_an_encoder_panic(values in prop::collection::vec(any::<u32>(), 256)) {
        let values: Vec<_> = values.into_iter().map(f32::from_bits).collect();
        for quant in encodable() {
            let mut bytes = vec![0; quant.row_bytes(256).expect("whole blocks")];
            let carried = quant.block_len() == 1 || values.iter().all(|x| x.abs() <= 65504.0);
            prop_assert_eq!(quant.encode(&values, &mut bytes).is_ok(), carried, "{:?}", quant);
        }
    }

    #[test]
    fn whatever_is_in_range_decodes_to_finite_values(
        values in prop::collection::vec(any::<u32>(), 256),
    ) {
        let values: Vec<_> = values
            .into_iter()
            .map(f32::from_bits)
            .map(|x| if x.abs() <= 65504.0 { x } else { 65504_f32.copysign(x) })
            .collect();
        for quant in ranged() {
            let decoded = round_trip(quant, &values);
            prop_assert!(decoded.iter().all(|x| x.is_finite()), "{quant:?}");
            prop_assert!(peak(&decoded) <= 2.0 * 65504.0, "{quant:?}");
        }
    }

    #[test]
    fn blocks_do_not_touch_each_other(first in block(256), second in block(256)) {
        for quant in encodable() {
            let both = [first.as_slice(), &second].concat();
            let apart = [encode(quant, &first), encode(quant, &second)].concat();
            prop_assert_eq!(encode(quant, &both), apart, "{:?}", quant);
        }
    }
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn zeros_stay_exactly_zero() {
    for quant in encodable() {
        let decoded = round_trip(quant, &[0.0; 256]);
        assert!(decoded.iter().all(|x| *x == 0.0), "{quant:?}");
    }
}

#[test]
fn values_on_the_grid_survive() {
    let whole: Vec<f32> = (0..256).map(|i| (i % 16) as f32 - 8.0).collect();
    for quant in [Quant::F16, Quant::BF16, Quant::Q4_0, Quant::Q4_1] {
        assert_eq!(round_trip(quant, &whole), whole, "{quant:?}");
    }
    // The largest scale of a block is 63 units: so the unit is a whole number too.
    let whole: Vec<f32> = whole.iter().map(|x| x * 63.0).collect();
    assert_eq!(round_trip(Quant::Q4_K, &whole), whole);
    let ternary: Vec<f32> = (0..256).map(|i| ((i * i / 5) % 3) as f32 * 0.75 - 0.75).collect();
    for quant in [Quant::TQ1_0, Quant::TQ2_0] {
        assert_eq!(round_trip(quant, &ternary), ternary, "{quant:?}");
    }
    let bytes: Vec<f32> = (0..256).map(|i| (i % 255) as f32 - 127.0).collect();
    assert_eq!(round_trip(Quant::Q8_K, &bytes), bytes);
}

#[test]
fn what_a_scale_cannot_carry_is_refused_with_its_place() {
    for quant in ranged() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 65505.0, -1e38] {
            let mut values = [1.0; 512];
            values[300] = value;
            let mut bytes = vec![0xa5; quant.row_bytes(512).expect("whole blocks")];
            let error = quant.encode(&values, &mut bytes).expect_err("out of range");
            let Error::ValueOutOfRange { format, index, value: found } = error else {
                panic!("{quant:?}: {error}");
            };
            assert_eq!((format, index), (quant.name(), 300));
            assert!(same(found, value));
            assert!(bytes.iter().all(|byte| *byte == 0xa5), "{quant:?}: nothing is written");
        }
    }
}

#[test]
fn formats_without_an_encoder_say_so() {
    let without: Vec<_> = Quant::ALL.iter().copied().filter(|quant| !quant.can_encode()).collect();
    let books =
        [Quant::IQ1_S, Quant::IQ1_M, Quant::IQ2_XXS, Quant::IQ2_XS, Quant::IQ2_S, Quant::IQ3_XXS];
    let rest = [Quant::IQ3_S, Quant::IQ4_NL, Quant::IQ4_XS, Quant::MXFP4, Quant::NVFP4];
    assert_eq!(without, [&books[..], &rest].concat());
    for quant in without {
        let mut bytes = vec![0; quant.row_bytes(256).expect("whole blocks")];
        let error = quant.encode(&[0.0; 256], &mut bytes);
        assert_eq!(error, Err(Error::NoEncoder { format: quant.name() }));
    }
}

#[test]
fn sums_of_q8_k_are_those_of_its_bytes() {
    let values: Vec<f32> = (0..256).map(|i| ((i * 37) % 101) as f32 - 40.0).collect();
    let block = encode(Quant::Q8_K, &values);
    for group in 0..16 {
        let bytes = &block[4 + 16 * group..][..16];
        let expected: i16 = bytes.iter().map(|byte| i16::from(byte.cast_signed())).sum();
        let at = 260 + 2 * group;
        assert_eq!(i16::from_le_bytes([block[at], block[at + 1]]), expected, "group {group}");
    }
}

/// Root-mean-square error over that of the values, on bell-shaped values as weights have them: a
/// fit that searches stays below these; one that only spans the range does not (but in q8_k,
/// where 8 bits leave nothing to search).
#[test]
fn k_formats_are_good_on_bell_shaped_values() {
    let mut state = 7_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let values: Vec<f32> =
        (0..64 * 256).map(|_| (0..12).map(|_| uniform()).sum::<f32>() * 0.02).collect();
    for (quant, bound) in [
        (Quant::Q2_K, 0.275),
        (Quant::Q3_K, 0.153),
        (Quant::Q4_K, 0.0725),
        (Quant::Q5_K, 0.0362),
        (Quant::Q6_K, 0.0181),
        (Quant::Q8_K, 0.0068),
    ] {
        let decoded = round_trip(quant, &values);
        let square = |x: f32| f64::from(x) * f64::from(x);
        let error: f64 = values.iter().zip(&decoded).map(|(x, y)| square(x - y)).sum();
        let norm: f64 = values.iter().map(|x| square(*x)).sum();
        let relative = (error / norm).sqrt();
        assert!(relative <= bound, "{quant:?}: {relative} > {bound}");
    }
}
