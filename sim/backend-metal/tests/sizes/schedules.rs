//! Who else is served: what the device promises of a sequence's bytes, and what it does not.
//!
//! The kernels of few rows and of many add in other orders, so `Caps` promises nothing. Yet within
//! either kind the rows of a step know nothing of each other: a sequence gets the bytes of its solo
//! run as long as its steps stay on one side of the threshold.

use std::collections::BTreeMap;

use minfer_conformance::Seeded;
use minfer_engine::{Engine, EngineOptions, Event, FinishReason, Params, Request, SequenceId};
use minfer_quant::Quant;

use crate::harness::{ARCHITECTURES, engine, greedy, tiny, tokens};

/// Engines of an architecture, each with limits of its own, and schedules that each of them runs.
const ENGINES: u64 = 2;
const SCHEDULES: u64 = 5;
/// Requests that the schedules of one model choose from.
const REQUESTS: usize = 6;
/// Rows of a step for which the kernels of few rows are taken.
const FEW: usize = 8;

/// Options for steps of few rows.
fn options() -> EngineOptions {
    EngineOptions { context: Some(160), batch: FEW, threads: 1, ..EngineOptions::default() }
}

/// Requests, and the hash of the logits of each when nothing runs beside it.
fn solo(bytes: &[u8]) -> Vec<(Request, Option<u64>)> {
    let alone = EngineOptions { prefix_cache: false, ..options() };
    let mut engine = engine(bytes.to_vec(), alone);
    let mut seeded = Seeded::new(3);
    let request = |index: usize| {
        // Two beginnings, so that later requests find pages of earlier ones.
        let start = 100 * seeded.below(2);
        let mut prompt = tokens(200)[start..start + 1 + seeded.below(44)].to_vec();
        prompt.extend((0..seeded.below(8)).map(|_| 3 + seeded.below(280) as u32));
        let mut request = greedy(prompt, 1 + seeded.below(6));
        if seeded.below(2) == 0 {
            let seed = index as u64;
            request.sampling = Params { seed, temperature: 1.0, ..Params::default() };
        }
        let done = engine.generate(request.clone(), &mut |_| ()).unwrap();
        assert_eq!(done.reason, FinishReason::Length);
        assert!(done.stats.logits_hash.is_some());
        (request, done.stats.logits_hash)
    };
    (0..REQUESTS).map(request).collect()
}

/// What the schedules came across.
#[derive(Debug, Default)]
struct Seen {
    finished: usize,
    cancelled: usize,
    hits: u64,
    preempted: u64,
}

/// An engine that steps of few rows are all that it runs, with few pages.
fn limited(bytes: &[u8], seeded: &mut Seeded) -> Engine {
    let options = EngineOptions {
        chunk: Some(1 + seeded.below(FEW)),
        sequences: 2 + seeded.below(FEW - 1),
        kv_pages: Some(5 + seeded.below(5)),
        ..options()
    };
    engine(bytes.to_vec(), options)
}

fn run_schedule(
    engine: &mut Engine,
    solo: &[(Request, Option<u64>)],
    seeded: &mut Seeded,
    seen: &mut Seen,
) {
    let mut waiting: Vec<usize> =
        (0..2 + seeded.below(4)).map(|_| seeded.below(REQUESTS)).collect();
    let mut running: BTreeMap<SequenceId, usize> = BTreeMap::new();
    while !waiting.is_empty() || !engine.is_idle() {
        let arrives = engine.is_idle() || seeded.below(3) == 0;
        if arrives && let Some(index) = waiting.pop() {
            running.insert(engine.submit(solo[index].0.clone()).unwrap(), index);
        }
        if seeded.below(100) == 0
            && let Some(id) = running.keys().next_back()
        {
            engine.cancel(*id);
        }
        for event in engine.step().unwrap() {
            let Event::Finished { sequence, reason, stats } = event else { continue };
            let index = running.remove(&sequence).unwrap();
            match reason {
                FinishReason::Cancelled => seen.cancelled += 1,
                FinishReason::Length => {
                    assert_eq!(stats.logits_hash, solo[index].1, "request {index}");
                    seen.finished += 1;
                }
                other => panic!("request {index}: {other:?}"),
            }
        }
    }
    let stats = engine.stats();
    assert_eq!(stats.free_pages + stats.cached_pages, stats.total_pages, "pages leak");
}

#[test]
fn steps_of_few_rows_give_a_sequence_its_bytes_whoever_else_is_served() {
    let mut seen = Seen::default();
    for architecture in ARCHITECTURES {
        let bytes = tiny(architecture, Quant::Q8_0);
        let solo = solo(&bytes);
        for seed in 0..ENGINES {
            let mut seeded = Seeded::new(seed);
            let mut engine = limited(&bytes, &mut seeded);
            for _ in 0..SCHEDULES {
                run_schedule(&mut engine, &solo, &mut seeded, &mut seen);
            }
            let stats = engine.stats();
            seen.hits += stats.prefix_hits;
            seen.preempted += stats.preempted;
        }
    }
    assert!(seen.finished > 100, "{seen:?}");
    assert!(seen.hits > 0, "{seen:?}");
}
