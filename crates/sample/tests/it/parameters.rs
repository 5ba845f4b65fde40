//! Defaults and ranges.

use minfer_sample::{Chain, Dry, Error, Mirostat, Params, Penalties, Xtc};

#[test]
fn defaults_are_those_of_llama_cpp() {
    let expected = Params {
        seed: 0,
        temperature: 0.8,
        dynamic_range: 0.0,
        dynamic_exponent: 1.0,
        top_k: 40,
        top_p: 0.95,
        min_p: 0.05,
        typical_p: 1.0,
        top_n_sigma: -1.0,
        penalties: Penalties { last_n: 64, repeat: 1.0, frequency: 0.0, presence: 0.0 },
        dry: Dry {
            multiplier: 0.0,
            base: 1.75,
            allowed_length: 2,
            last_n: -1,
            breakers: Vec::new(),
        },
        xtc: Xtc { probability: 0.0, threshold: 0.1 },
        mirostat: Mirostat::Off,
        logit_bias: Vec::new(),
    };
    assert_eq!(Params::default(), expected);
    assert_eq!(Params::default().validate(), Ok(()));
    assert_eq!((Mirostat::TAU, Mirostat::ETA), (5.0, 0.1));
    assert_eq!(Dry::BREAKERS, ["\n", ":", "\"", "*"]);
}

#[test]
fn every_field_has_a_range_without_nan() {
    type Set = fn(&mut Params, f32);
    // Field, setter, a value at the edge of the range, values outside.
    let cases: Vec<(&str, Set, f32, &[f32])> = vec![
        ("temperature", |p, v| p.temperature = v, -1.0, &[f32::INFINITY]),
        ("dynamic_range", |p, v| p.dynamic_range = v, 0.0, &[-0.1, f32::INFINITY]),
        ("dynamic_exponent", |p, v| p.dynamic_exponent = v, 0.0, &[-0.1, f32::INFINITY]),
        ("top_p", |p, v| p.top_p = v, 0.0, &[-0.1, 1.1]),
        ("min_p", |p, v| p.min_p = v, 1.0, &[-0.1, 1.1]),
        ("typical_p", |p, v| p.typical_p = v, 0.0, &[-0.1, 1.1]),
        ("top_n_sigma", |p, v| p.top_n_sigma = v, -5.0, &[f32::INFINITY]),
        ("penalties.repeat", |p, v| p.penalties.repeat = v, 0.5, &[0.0, -1.0, f32::INFINITY]),
        ("penalties.frequency", |p, v| p.penalties.frequency = v, -2.0, &[f32::INFINITY]),
        ("penalties.presence", |p, v| p.penalties.presence = v, -2.0, &[f32::NEG_INFINITY]),
        ("dry.multiplier", |p, v| p.dry.multiplier = v, 0.0, &[-0.1, f32::INFINITY]),
        ("dry.base", |p, v| p.dry.base = v, 0.0, &[-1.0, f32::INFINITY]),
        ("xtc.probability", |p, v| p.xtc.probability = v, 1.0, &[-0.1, 1.1]),
        ("xtc.threshold", |p, v| p.xtc.threshold = v, 1.0, &[-0.1, 1.1]),
        (
            "mirostat.tau",
            |p, v| p.mirostat = Mirostat::V1 { tau: v, eta: 0.1 },
            0.0,
            &[-0.1, f32::INFINITY],
        ),
        (
            "mirostat.eta",
            |p, v| p.mirostat = Mirostat::V2 { tau: 5.0, eta: v },
            0.0,
            &[-0.1, f32::INFINITY],
        ),
    ];
    for (field, set, good, bad) in cases {
        let mut params = Params::default();
        set(&mut params, good);
        assert_eq!(params.validate(), Ok(()), "{field} = {good}");
        for &value in bad.iter().chain(&[f32::NAN]) {
            let mut params = Params::default();
            set(&mut params, value);
            match params.validate() {
                Err(Error::Parameter { name, .. }) => assert_eq!(name, field),
                other => panic!("{field} = {value}: {other:?}"),
            }
            assert!(Chain::new(params, 10).is_err());
        }
    }
}

#[test]
fn windows_and_lists_are_checked() {
    let with = |change: fn(&mut Params)| {
        let mut params = Params::default();
        change(&mut params);
        params.validate()
    };
    assert!(with(|p| p.penalties.last_n = -2).is_err());
    assert!(with(|p| p.dry.last_n = -2).is_err());
    assert_eq!(with(|p| p.penalties.last_n = -1), Ok(()));
    assert_eq!(with(|p| p.logit_bias = vec![(0, f32::NEG_INFINITY)]), Ok(()));
    assert!(with(|p| p.logit_bias = vec![(0, f32::INFINITY)]).is_err());
    assert!(with(|p| p.logit_bias = vec![(0, f32::NAN)]).is_err());
    assert_eq!(with(|p| p.logit_bias = vec![(0, 1.0); 1024]), Ok(()));
    let found = with(|p| p.logit_bias = vec![(0, 1.0); 1025]);
    assert_eq!(found, Err(Error::TooMany { name: "logit_bias", found: 1025, limit: 1024 }));
    assert!(with(|p| p.dry.breakers = vec![vec![1]; 1025]).is_err());
    assert!(with(|p| p.dry.breakers = vec![vec![1; 65]]).is_err());
}

#[test]
fn a_chain_needs_a_vocabulary_that_holds_its_bias() {
    assert!(matches!(Chain::new(Params::default(), 0), Err(Error::Vocabulary { .. })));
    let params = Params { logit_bias: vec![(10, 1.0)], ..Params::default() };
    assert!(Chain::new(params.clone(), 11).is_ok());
    let unknown = Chain::new(params, 10).map(|_| ()).expect_err("an unknown token");
    assert_eq!(unknown, Error::UnknownToken { token: 10, vocab_size: 10, place: "logit_bias" });
}
