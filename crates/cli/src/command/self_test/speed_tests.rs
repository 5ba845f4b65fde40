use std::collections::BTreeMap;
use std::time::Duration;

use minfer_backend_cpu::{Cpu, CpuOptions};
use minfer_conformance::time;
use minfer_plan::{Choice, Device as _};

use super::shapes::{self, Scale};
use super::{Variant, best, launch, table};

#[test]
fn every_shape_runs_and_has_a_time_and_a_cost() {
    let mut device = Cpu::new(CpuOptions { threads: 1, isa: None }).unwrap();
    let shapes = shapes::all(Scale(256));
    assert!(shapes.len() > 50, "{}", shapes.len());
    for shape in &shapes {
        let case = shape.case(device.target(), 2);
        let timed = time(&case, &mut device, Duration::ZERO).unwrap();
        let timed = timed.unwrap_or_else(|| panic!("{} is refused", shape.name()));
        assert!(timed.best > Duration::ZERO && !timed.kernels.is_empty(), "{timed:?}");
        assert!(timed.cost.weight_bytes + timed.cost.activation_bytes > 0, "{timed:?}");
    }
    let (kernel, time, cost) = launch(&mut device, &shapes[0], Duration::ZERO).unwrap().unwrap();
    assert!(cost.macs == 256 * 256 && time > Duration::ZERO && !kernel.is_empty());
    let row = super::Speed::new(&shapes[0], kernel, Duration::from_micros(10), cost, Some(1e12));
    assert!((row.gigamacs_per_second - 6.5536).abs() < 1e-3, "{row:?}");
    assert!(table(&[row]).contains("matmul f32 1x256x256"));
    assert!(shapes::of("attention.few_rows", Scale(256)).len() > 10);
    assert!(shapes::of("matmul.few_rows", Scale(256)).len() > 20);
    assert!(shapes::of("other", Scale(256)).is_empty());
}

#[test]
fn the_best_value_must_be_better_by_more_than_noise() {
    let choice = Choice { name: "matmul.x", about: "", values: &[1, 2, 3], value: 2 };
    let shapes = |a: f64, b: f64| BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
    let noise = Variant::new(&choice, vec![(1, shapes(9.9, 10.0)), (2, shapes(10.0, 10.0))]);
    assert_eq!(noise.best, 2);
    let faster = vec![(1, shapes(20.0, 10.0)), (2, shapes(10.0, 10.0)), (3, shapes(8.0, 10.0))];
    let faster = Variant::new(&choice, faster);
    assert_eq!((faster.best, faster.values[0].relative), (3, 1.5));
    assert!(faster.text().contains("best 3, default 2 (1 takes 1.50"), "{}", faster.text());
    assert_eq!(best(&[noise, faster]), BTreeMap::from([("matmul.x", 3)]));
}
