//! Who else is served: with `deterministic` a sequence has the bytes of its solo run in any
//! company, however its prompt is cut, whatever it finds in the prefix cache, and when it had to
//! start over.

use std::collections::BTreeMap;

use minfer_conformance::Seeded;
use minfer_engine::{Engine, EngineOptions, Event, FinishReason, Params, Request, SequenceId};
use minfer_quant::Quant;

use crate::harness::{ARCHITECTURES, engine, greedy, tiny, tokens};

/// Engines of an architecture, each with limits of its own, and schedules that each of them runs.
const ENGINES: u64 = 2;
const SCHEDULES: u64 = 4;
/// Requests that the schedules of one model choose from.
const REQUESTS: usize = 8;

fn options() -> EngineOptions {
    EngineOptions {
        context: Some(160),
        threads: 1,
        deterministic: true,
        ..EngineOptions::default()
    }
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
}

/// An engine with limits of its own, and few pages.
fn limited(bytes: &[u8], seeded: &mut Seeded) -> Engine {
    let batch = [8, 17, 40, 64, 256][seeded.below(5)];
    let options = EngineOptions {
        batch,
        chunk: Some(1 + seeded.below(batch)),
        sequences: 2 + seeded.below(11),
        kv_pages: Some(6 + seeded.below(12)),
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
        (0..2 + seeded.below(11)).map(|_| seeded.below(REQUESTS)).collect();
    let mut running: BTreeMap<SequenceId, usize> = BTreeMap::new();
    while !waiting.is_empty() || !engine.is_idle() {
        let arrives = engine.is_idle() || seeded.below(2) == 0;
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
fn a_sequence_has_its_bytes_whoever_else_is_served() {
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
            seen.hits += engine.stats().prefix_hits;
        }
    }
    assert!(seen.finished > 150 && seen.cancelled > 0, "{seen:?}");
    assert!(seen.hits > 10, "{seen:?}");
}

/// Chosen tokens are computed again by the kernels that they had before, several in a step.
#[test]
fn a_sequence_that_starts_over_has_its_bytes() {
    let bytes = tiny("llama", Quant::Q8_0);
    let roomy = EngineOptions { prefix_cache: false, ..options() };
    let mut solo = engine(bytes.clone(), roomy.clone());
    let requests = [20, 24].map(|length| greedy(tokens(length), 45));
    let expected = requests
        .clone()
        .map(|request| solo.generate(request, &mut |_| ()).unwrap().stats.logits_hash);
    // Each of them needs three pages at its end.
    let mut engine = engine(bytes, EngineOptions { kv_pages: Some(4), ..roomy });
    let ids = requests.map(|request| engine.submit(request).unwrap());
    assert_eq!(finish(&mut engine, &ids), expected);
    assert!(engine.stats().preempted > 0);
}

/// Runs requests to their ends; gives the hash of each.
fn finish(engine: &mut Engine, ids: &[SequenceId]) -> Vec<Option<u64>> {
    let mut found = vec![None; ids.len()];
    while !engine.is_idle() {
        for event in engine.step().unwrap() {
            if let Event::Finished { sequence, stats, reason } = event {
                assert_eq!(reason, FinishReason::Length);
                found[ids.iter().position(|id| *id == sequence).unwrap()] = stats.logits_hash;
            }
        }
    }
    found
}

/// A cache that is shared out by partitions and one that is not give the same, however many may be
/// shared out.
#[test]
fn positions_past_a_partition_are_summed_in_one_order() {
    let long = EngineOptions { context: Some(600), ..options() };
    let bytes = tiny("gemma3", Quant::Q8_0);
    let alone = EngineOptions { prefix_cache: false, ..long.clone() };
    let mut solo = engine(bytes.clone(), alone);
    let requests = [508, 511].map(|length| greedy(tokens(length), 6));
    let expected = requests
        .clone()
        .map(|request| solo.generate(request, &mut |_| ()).unwrap().stats.logits_hash);
    let few = EngineOptions { kv_pages: Some(2 * 17), chunk: Some(300), ..long };
    let mut engine = engine(bytes, few);
    let ids = requests.map(|request| engine.submit(request).unwrap());
    assert_eq!(finish(&mut engine, &ids), expected);
}
