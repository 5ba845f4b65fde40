//! Attention against the textbook formula in double precision, and cut apart in different ways.

use minfer_graph::op::attention::Attention;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::{PARTITION_POSITIONS, StateDecl, StateId, WeightId, Work};
use minfer_plan::PlacedState;
use minfer_quant::{KvType, Quant};

use crate::op::tests::{Fixture, Random, real};
use crate::real::Real;
use crate::tensor::Tensor;

const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const HEAD_DIM: usize = 32;
const PAGES: usize = 48;

/// A cache of `positions` stored in shuffled pages, and queries for the last of them.
struct Case {
    positions: usize,
    rows: usize,
    window: Option<usize>,
    soft_cap: Option<f32>,
    sinks: bool,
    kv: KvType,
}

const PLAIN: Case =
    Case { positions: 70, rows: 3, window: None, soft_cap: None, sinks: false, kv: KvType::F32 };

impl Case {
    fn op(&self) -> Attention {
        Attention {
            state: StateId(0),
            heads: HEADS,
            scale: 0.3,
            soft_cap: self.soft_cap,
            sinks: self.sinks.then_some(WeightId(0)),
        }
    }

    fn values(&self, seed: u64, rows: usize, heads: usize) -> Vec<f32> {
        Random::new(seed).values(rows * heads * HEAD_DIM, 2.0)
    }

    fn pages() -> Vec<i32> {
        (0..PAGES).map(|i| (i * 7 % PAGES) as i32).collect()
    }

    fn sinks() -> Vec<f32> {
        (0..HEADS).map(|head| head as f32 - 1.0).collect()
    }

    fn run<T: Real>(&self, work: &[Work]) -> Tensor<T> {
        let decl = StateDecl::Paged {
            group: 0,
            layer: 0,
            kv_heads: KV_HEADS,
            head_dim: HEAD_DIM,
            key: self.kv,
            value: self.kv,
            window: self.window,
        };
        let states = [PlacedState { id: StateId(0), decl, pages: PAGES }];
        let sinks = (Quant::F32, 1, 1, HEADS, Case::sinks());
        let mut fixture = Fixture::new(&[sinks], &states, 16);
        let pages = Case::pages();
        let slot = |p: usize| pages[p / 32] * 32 + (p % 32) as i32;
        let slots = Tensor::index(1, (0..self.positions).map(slot).collect());
        let cols = KV_HEADS * HEAD_DIM;
        let k: Tensor<T> = real(cols, &self.values(1, self.positions, KV_HEADS));
        let v: Tensor<T> = real(cols, &self.values(2, self.positions, KV_HEADS));
        fixture.run(KvStore { state: StateId(0) }, &[k, v, slots]);
        let q = real(HEADS * HEAD_DIM, &self.values(3, self.rows, HEADS));
        let first = self.positions - self.rows;
        let positions = Tensor::index(1, (first..self.positions).map(|p| p as i32).collect());
        let rows = work.iter().flat_map(|work| work.to_row()).collect();
        let inputs = [q, positions, Tensor::index(PAGES, pages), Tensor::index(6, rows)];
        fixture.run(self.op(), &inputs).remove(0)
    }

    /// One item for all rows.
    fn whole(&self) -> Vec<Work> {
        let (rows, kv_end) = (self.rows as i32, self.positions as i32);
        vec![Work { row: 0, rows, sequence: 0, kv_start: 0, kv_end, slot: -1 }]
    }

    /// The formula of the op's definition, two passes over all positions.
    fn formula(&self) -> Vec<f64> {
        let f64s = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
        let q = f64s(self.values(3, self.rows, HEADS));
        let k = f64s(self.values(1, self.positions, KV_HEADS));
        let v = f64s(self.values(2, self.positions, KV_HEADS));
        let mut y = Vec::new();
        for (row, p) in (self.positions - self.rows..self.positions).enumerate() {
            for head in 0..HEADS {
                let q = &q[(row * HEADS + head) * HEAD_DIM..][..HEAD_DIM];
                let at = |j: usize| (j * KV_HEADS + head / (HEADS / KV_HEADS)) * HEAD_DIM;
                let seen = self.window.map_or(0, |w| (p + 1).saturating_sub(w))..p + 1;
                let score = |j: usize| {
                    let k = &k[at(j)..][..HEAD_DIM];
                    let s = q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * f64::from(0.3_f32);
                    self.soft_cap.map_or(s, |cap| f64::from(cap) * (s / f64::from(cap)).tanh())
                };
                let e: Vec<f64> = seen.clone().map(|j| score(j).exp()).collect();
                let sink = if self.sinks { f64::from(Case::sinks()[head]).exp() } else { 0.0 };
                let total = e.iter().sum::<f64>() + sink;
                for d in 0..HEAD_DIM {
                    let terms = seen.clone().zip(&e).map(|(j, e)| e * v[at(j) + d]);
                    y.push(terms.sum::<f64>() / total);
                }
            }
        }
        y
    }

    fn check(&self) {
        let work = self.whole();
        let (canonical, f64s) = (self.run::<f32>(&work), self.run::<f64>(&work));
        let expected = self.formula();
        assert_eq!(expected.len(), canonical.reals().len());
        for (index, expected) in expected.iter().enumerate() {
            let (canonical, f64s) = (canonical.reals()[index], f64s.reals()[index]);
            let name = format!("{} positions, element {index}", self.positions);
            let error = (f64::from(canonical) - expected).abs();
            assert!(error < 1e-5, "{name}: {canonical} instead of {expected}");
            assert!((f64s - expected).abs() < 1e-12, "{name}: {f64s} instead of {expected}");
        }
    }
}

#[test]
fn attention_is_the_formula() {
    PLAIN.check();
    Case { positions: 1, rows: 1, ..PLAIN }.check();
    Case { positions: 32, rows: 32, ..PLAIN }.check();
    Case { positions: 1100, rows: 2, ..PLAIN }.check();
    Case { window: Some(20), ..PLAIN }.check();
    Case { positions: 1100, rows: 40, window: Some(600), ..PLAIN }.check();
    Case { soft_cap: Some(1.5), ..PLAIN }.check();
    Case { sinks: true, ..PLAIN }.check();
    Case { positions: 600, sinks: true, soft_cap: Some(5.0), window: Some(3), ..PLAIN }.check();
}

#[test]
fn stored_types_stay_near_the_formula() {
    for (kv, tolerance) in [(KvType::F16, 2e-2), (KvType::BF16, 1e-1), (KvType::Q8_0, 1e-1)] {
        let case = Case { kv, ..PLAIN };
        let found = case.run::<f32>(&case.whole());
        let errors = found.reals().iter().zip(case.formula());
        let worst = errors.fold(0.0_f64, |m, (&a, b)| m.max((f64::from(a) - b).abs()));
        assert!(worst < tolerance, "{kv:?}: {worst}");
        assert!(worst > 1e-6, "{kv:?}: nothing has been rounded");
    }
}

/// Items for every partition of `rows` rows, partials from `slot` on.
fn shared_out(row: i32, rows: i32, kv_end: i32, slot: i32) -> Vec<Work> {
    let starts = (0..kv_end).step_by(PARTITION_POSITIONS).enumerate();
    let item = |(partition, kv_start): (usize, i32)| Work {
        row,
        rows,
        sequence: 0,
        kv_start,
        kv_end: kv_end.min(kv_start + PARTITION_POSITIONS as i32),
        slot: slot + partition as i32 * rows,
    };
    starts.map(item).collect()
}

#[test]
fn partials_and_whole_rows_give_the_same_bits() {
    let case = Case { positions: 1300, rows: 3, sinks: true, kv: KvType::F16, ..PLAIN };
    let bits = |work: &[Work]| -> Vec<u32> {
        case.run::<f32>(work).reals().iter().map(|x| x.to_bits()).collect()
    };
    let whole = bits(&case.whole());
    assert_eq!(bits(&shared_out(0, 3, 1300, 4)), whole, "three rows an item");
    let mut each: Vec<Work> =
        (0..3).flat_map(|row| shared_out(row, 1, 1298 + row, row * 3)).collect();
    assert_eq!(bits(&each), whole, "a row an item");
    each.reverse();
    assert_eq!(bits(&each), whole, "in any order");
    let mut mixed = shared_out(1, 1, 1299, 0);
    mixed.push(Work { row: 0, rows: 1, slot: -1, kv_end: 1298, ..case.whole()[0] });
    mixed.push(Work { row: 2, rows: 1, slot: -1, ..case.whole()[0] });
    mixed.push(Work { row: 0, rows: 0, sequence: 0, kv_start: 0, kv_end: 0, slot: -1 });
    assert_eq!(bits(&mixed), whole, "some rows whole, some shared out");
}

#[test]
fn a_window_that_skips_whole_partitions_changes_nothing() {
    let case = Case { positions: 1300, rows: 1, window: Some(40), ..PLAIN };
    let whole = case.run::<f32>(&case.whole());
    let late = [Work { kv_start: 1024, ..case.whole()[0] }];
    assert_eq!(case.run::<f32>(&late), whole);
    assert_eq!(case.run::<f32>(&shared_out(0, 1, 1300, 0)), whole);
}
