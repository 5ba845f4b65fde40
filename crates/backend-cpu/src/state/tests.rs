use minfer_graph::StateId;

use super::*;
use crate::simd::Isa;

fn placed(key: KvType, value: KvType, pages: usize) -> PlacedState {
    let decl = StateDecl::Paged {
        group: 1,
        layer: 0,
        kv_heads: 2,
        head_dim: 64,
        key,
        value,
        window: None,
    };
    PlacedState { id: StateId(0), decl, pages }
}

#[test]
fn what_is_stored_is_loaded_in_every_type() {
    for isa in Isa::ALL {
        let Some(simd) = Simd::new(*isa) else { continue };
        for kind in KvType::ALL.iter().copied() {
            let mut states = pools("CPU", &[placed(kind, KvType::F32, 3)]).unwrap();
            let pages = &mut states.get_mut(StateId(0)).unwrap().key;
            assert_eq!(pages.len(), 3);
            let x: Vec<f32> = (0..64).map(|i| (i as f32 - 31.0) / 8.0).collect();
            pages.store(simd, 1, 1, 31, &x);
            let tolerance = if kind == KvType::Q8_0 { 0.02 } else { 0.0 };
            for stride in [64, 80] {
                let mut to = vec![9.0; 2 * stride];
                pages.load(simd, 1, 1, 30..32, stride, &mut to);
                assert!(to[..64].iter().all(|x| *x == 0.0), "the position before is still zero");
                let loaded = &to[stride..stride + 64];
                let close = x.iter().zip(loaded).all(|(x, y)| (x - y).abs() <= tolerance);
                assert!(close, "{} {loaded:?}", kind.name());
                assert!(to[64..stride].iter().all(|x| *x == 9.0), "padding is left alone");
            }
            // Neighbours are untouched.
            let mut to = vec![1.0; 32 * 64];
            pages.load(simd, 1, 0, 0..32, 64, &mut to);
            pages.load(simd, 2, 0, 0..1, 64, &mut to[..64]);
            assert!(to.iter().all(|x| *x == 0.0));
        }
    }
}

#[test]
fn values_that_are_not_finite_stay_visible() {
    let simd = Simd::new(Isa::Scalar).unwrap();
    for bad in [f32::NAN, f32::INFINITY] {
        let placed = placed(KvType::Q8_0, KvType::F16, 1);
        let mut states = pools("CPU", &[placed]).unwrap();
        let mut x = vec![1.0; 64];
        x[40] = bad;
        let pages = &mut states.get_mut(StateId(0)).unwrap().key;
        pages.store(simd, 0, 0, 0, &x);
        let mut to = vec![0.0; 64];
        pages.load(simd, 0, 0, 0..1, 64, &mut to);
        assert!(to[..32].iter().all(|x| (x - 1.0).abs() < 0.01));
        assert!(to[32..].iter().all(|x| x.is_nan()));
    }
}

#[test]
fn pages_are_copied_within_their_group() {
    let simd = Simd::new(Isa::Scalar).unwrap();
    let mut states = pools("CPU", &[placed(KvType::F16, KvType::Q8_0, 4)]).unwrap();
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    states.get_mut(StateId(0)).unwrap().key.store(simd, 0, 1, 5, &x);
    let copy =
        |states: &mut States, group, to| states.of_group_mut(group).all(|pool| pool.copy(0, to));
    assert!(copy(&mut states, 0, 3), "another group has nothing to copy");
    let load = |states: &States, page| {
        let mut to = vec![0.0; 64];
        states.get(StateId(0)).unwrap().key.load(simd, page, 1, 5..6, 64, &mut to);
        to
    };
    assert!(load(&states, 3).iter().all(|x| *x == 0.0));
    assert!(copy(&mut states, 1, 3));
    assert_eq!(load(&states, 3), x);
    assert!(!copy(&mut states, 1, 4), "there are four pages");
}

#[test]
fn a_pool_that_does_not_fit_is_an_error() {
    let placed = placed(KvType::F32, KvType::F32, 1 << 46);
    let error = pools("CPU", &[placed]).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { .. }), "{error}");
}
