//! Every op's cases on the device, held to double precision, with every access checked.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use metal_sim::objc::Settings;
use minfer_backend_metal::{MetalOptions, Staging};
use minfer_conformance::{Case, Outcome, Verdict, judge, ops, run, size};
use minfer_plan::Device;

use crate::gpu::open_with;

/// Orders of lanes, simdgroups and threadgroups: first to last, and two others.
pub const ORDERS: [u64; 3] = [0, 1, 2];

/// A device with f32 staging on a simulator with these settings.
pub fn device(settings: Settings) -> Box<dyn Device> {
    let options = MetalOptions { staging: Staging::Full, ..MetalOptions::default() };
    Box::new(open_with(settings, options))
}

/// A checked simulator with this order.
pub fn checked(seed: u64) -> Settings {
    Settings { seed, ..Settings::default() }
}

/// Runs a case in these orders: no access may be wrong, and all orders give the same bits.
fn in_orders(case: &Case, orders: &[u64]) -> Verdict {
    let Some((&first, others)) = orders.split_first() else {
        return Verdict::Failed("no order was named".to_owned());
    };
    let found = run(case, device(checked(first)).as_mut());
    if let Ok(Outcome::Ran(bits)) = &found {
        for &order in others {
            match run(case, device(checked(order)).as_mut()) {
                Ok(Outcome::Ran(other)) if other == *bits => {}
                Ok(_) => {
                    let text = format!("{}: orders {first} and {order} differ", case.name);
                    return Verdict::Failed(text);
                }
                Err(error) => {
                    return Verdict::Failed(format!("{}: order {order}: {error}", case.name));
                }
            }
        }
    }
    judge(case, found, false)
}

#[test]
fn every_op_is_right_in_any_order_and_no_access_is_wrong() {
    // Of those that only take long, as they do in fast runs with the rest, every eighth, in one
    // order each: what orders can show, their light neighbours show.
    let light = |case: &Case| size(case)[0] <= 65 && size(case)[1] <= 4000;
    let (cases, heavy): (Vec<Case>, Vec<Case>) = ops::all().into_iter().partition(light);
    let in_all = cases.into_iter().map(|case| (case, &ORDERS[..]));
    let mut cases: Vec<(Case, &[u64])> = in_all.collect();
    let turns = ORDERS.chunks(1).cycle();
    cases.extend(heavy.into_iter().step_by(8).zip(turns));
    let next = AtomicUsize::new(0);
    let (passed, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((case, orders)) = cases.get(index) else { break };
            match in_orders(case, orders) {
                Verdict::Passed => drop(passed.fetch_add(1, Ordering::Relaxed)),
                Verdict::Unsupported(_) => {}
                Verdict::Failed(why) => failed.lock().unwrap().push(why),
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let failed = failed.into_inner().unwrap();
    let shown: Vec<_> = failed.iter().take(5).collect();
    assert!(failed.is_empty(), "{} cases: {shown:#?}", failed.len());
    let passed = passed.into_inner();
    assert!(passed > 1200, "{passed} cases were run");
}
