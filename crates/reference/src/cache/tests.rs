//! Pages: where rows lie, and how they are rounded.

use half::{bf16, f16};
use minfer_graph::{StateDecl, StateId};
use minfer_plan::PlacedState;
use minfer_quant::KvType;

use super::Caches;

fn caches(key: KvType, value: KvType) -> Caches {
    let decl = StateDecl::Paged {
        group: 0,
        layer: 0,
        kv_heads: 2,
        head_dim: 64,
        key,
        value,
        window: None,
    };
    Caches::new("test", &[PlacedState { id: StateId(0), decl, pages: 3 }]).expect("small pools")
}

fn row() -> Vec<f32> {
    (0..64).map(|k| (k as f32 - 20.0) * 0.37).collect()
}

#[test]
fn rows_come_back_rounded_to_their_type() {
    for (kind, rounded) in [
        (KvType::F32, (|x| x) as fn(f32) -> f32),
        (KvType::F16, |x| f16::from_f32(x).to_f32()),
        (KvType::BF16, |x| bf16::from_f32(x).to_f32()),
    ] {
        let mut caches = caches(kind, KvType::F32);
        let pool = &mut caches.cache_mut(StateId(0)).keys;
        pool.store(1, 1, 5, &row());
        let expected: Vec<f32> = row().into_iter().map(rounded).collect();
        assert_eq!(pool.load(1, 1, 5), expected, "{kind:?}");
        assert_eq!(pool.load(1, 1, 4), [0.0; 64], "{kind:?}: no other row is touched");
        assert_eq!(pool.load(1, 0, 5), [0.0; 64], "{kind:?}");
        assert_eq!(pool.load(2, 1, 5), [0.0; 64], "{kind:?}");
    }
}

#[test]
fn q8_0_rounds_its_scale_before_its_values() {
    let mut caches = caches(KvType::F16, KvType::Q8_0);
    let pool = &mut caches.cache_mut(StateId(0)).values;
    pool.store(2, 1, 31, &row());
    let loaded = pool.load(2, 1, 31);
    for (block, found) in row().chunks(32).zip(loaded.chunks(32)) {
        let peak = block.iter().fold(0.0_f32, |m, x| m.max(x.abs()));
        let scale = f16::from_f32(peak / 127.0).to_f32();
        let value = |x: &f32| (x * (1.0 / scale)).round_ties_even().clamp(-127.0, 127.0) * scale;
        assert_eq!(found, block.iter().map(value).collect::<Vec<_>>());
        assert_ne!(found, block, "a case in which something is rounded");
    }
}

#[test]
fn a_q8_0_page_holds_all_values_and_then_all_scales() {
    let mut caches = caches(KvType::Q8_0, KvType::Q8_0);
    let pool = &mut caches.cache_mut(StateId(0)).keys;
    let (values, scales) = (2 * 32 * 64, 2 * 32 * 2 * 2);
    assert_eq!(pool.page_bytes, values + scales);
    pool.store(1, 1, 3, &[127.0; 64]);
    let page = &pool.memory.bytes()[pool.page_bytes..2 * pool.page_bytes];
    let first = (32 + 3) * 64;
    let ones = f16::ONE.to_ne_bytes().repeat(2);
    assert_eq!(page[first..first + 64], [127; 64]);
    assert_eq!(page[values + first / 32 * 2..][..4], ones);
    assert_eq!(page.iter().filter(|&&byte| byte != 0).count(), 64 + 2);
}

#[test]
fn blocks_without_a_scale() {
    let mut caches = caches(KvType::Q8_0, KvType::Q8_0);
    let pool = &mut caches.cache_mut(StateId(0)).keys;
    let mut faulty = row();
    faulty[40] = f32::NAN;
    pool.store(0, 0, 0, &faulty);
    let loaded = pool.load(0, 0, 0);
    assert!(loaded[..32].iter().all(|x| x.is_finite()));
    assert!(loaded[32..].iter().all(|x| x.is_nan()));
    pool.store(0, 0, 0, &[1e-9; 64]);
    assert_eq!(pool.load(0, 0, 0), [0.0; 64], "a scale that is 0 in f16");
}

#[test]
fn a_page_is_copied_whole_and_alone() {
    let mut caches = caches(KvType::F16, KvType::Q8_0);
    for (head, position) in [(0, 0), (1, 31)] {
        caches.cache_mut(StateId(0)).keys.store(0, head, position, &row());
        caches.cache_mut(StateId(0)).values.store(0, head, position, &row());
    }
    caches.copy_page(1, 0, 2);
    assert_eq!(caches.cache(StateId(0)).keys.load(2, 0, 0), [0.0; 64], "another group");
    caches.copy_page(0, 0, 2);
    let cache = caches.cache(StateId(0));
    for (head, position) in [(0, 0), (1, 31)] {
        assert_eq!(cache.keys.load(2, head, position), cache.keys.load(0, head, position));
        assert_eq!(cache.values.load(2, head, position), cache.values.load(0, head, position));
        assert_ne!(cache.keys.load(2, head, position), [0.0; 64]);
    }
    assert_eq!(cache.keys.load(1, 0, 0), [0.0; 64]);
    caches.clear();
    assert_eq!(caches.cache(StateId(0)).keys.load(2, 0, 0), [0.0; 64]);
}
