//! The generator against the vectors its authors publish (Random123, `kat_vectors`).

use minfer_sample::rng::{Draw, philox};

#[test]
fn philox_answers_the_published_vectors() {
    assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    assert_eq!(
        philox([u32::MAX; 4], [u32::MAX; 2]),
        [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
    );
    assert_eq!(
        philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
    );
}

#[test]
fn a_draw_is_split_as_documented() {
    let seed = 0x0123_4567_89ab_cdef;
    let words = philox([7, 1, 0, 0], [0x89ab_cdef, 0x0123_4567]);
    let unit = |low: u32, high: u32| {
        let bits = (u64::from(high) << 32 | u64::from(low)) >> 11;
        bits as f64 / 9_007_199_254_740_992.0
    };
    let draw = Draw::new(seed, (1 << 32) + 7);
    assert_eq!(draw.token(), unit(words[0], words[1]));
    assert_eq!(draw.xtc(), unit(words[2], words[3]));
}

#[test]
fn uniforms_fill_the_unit_interval_evenly() {
    let mut counts = [0u32; 64];
    for index in 0..64_000 {
        let u = Draw::new(42, index).token();
        assert!((0.0..1.0).contains(&u));
        counts[(u * 64.0) as usize] += 1;
    }
    // Chi-square with 63 degrees of freedom: above 111 has probability 2e-4.
    let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi < 111.0, "chi-square {chi}");
}
