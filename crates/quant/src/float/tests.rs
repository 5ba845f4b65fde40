use super::*;

#[test]
fn f16_to_f32_agrees_with_the_half_crate_on_all_65536_patterns() {
    for bits in 0..=u16::MAX {
        let expected = half::f16::from_bits(bits).to_f32();
        let found = f16_to_f32(bits);
        assert!(
            found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()),
            "{bits:#06x}: {found} instead of {expected}"
        );
    }
}

#[test]
fn nearest_stays_within_its_levels_for_any_input() {
    for (x, level) in [
        (f32::NAN, -8.0),
        (f32::INFINITY, 7.0),
        (f32::NEG_INFINITY, -8.0),
        (2.5, 2.0),
        (-3.5, -4.0),
        (7.4, 7.0),
    ] {
        assert_eq!(nearest(x, -8.0, 7.0), level, "{x}");
    }
}
