//! Seeded schedules: whatever runs beside a sequence, and however its prompt is cut, its logits are
//! those of its solo run, bit for bit. Arrivals, chunk sizes, cancels, small pools and shared
//! starts are random. Each schedule runs on every architecture, with every type of KV page and
//! every number of threads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use minfer_conformance::tiny_file;
use minfer_engine::{
    Engine, EngineOptions, Event, FinishReason, KvType, KvTypes, Params, Placement, Request,
    SequenceId, TargetId,
};
use minfer_gguf::File;
use minfer_quant::Quant;

use crate::harness::{ARCHITECTURES, Overlapping, Random, greedy, options, prompt};

const SCHEDULES: usize = 200;
const THREADS: [usize; 4] = [1, 2, 3, 8];
/// Requests that the schedules of one model choose from.
const REQUESTS: usize = 10;

/// A way to load a model, its requests, and what each of them gives alone.
struct Case {
    load: Box<dyn Fn(EngineOptions) -> Engine>,
    options: EngineOptions,
    solo: Vec<(Request, Option<u64>)>,
}

impl Case {
    fn tiny(architecture: &str, kv: KvType) -> Case {
        let bytes = tiny_file(architecture, Quant::Q8_0);
        let load = move |options| {
            Engine::from_file(File::from_bytes(bytes.clone()).unwrap(), options).unwrap()
        };
        Case::new(Box::new(load), KvTypes { key: kv, value: kv }, 40)
    }

    fn smollm2() -> Case {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target/models/SmolLM2-135M-Instruct.Q4_1.gguf");
        assert!(path.exists(), "no {}: run `cargo xtask models`", path.display());
        let load = move |options| Engine::load(&path, options).unwrap();
        Case::new(Box::new(load), KvTypes { key: KvType::F16, value: KvType::F16 }, 6)
    }

    /// A device on which steps begin ahead, and requests that let them.
    fn ahead(architecture: &str, began: &Arc<AtomicU64>) -> Case {
        let bytes = tiny_file(architecture, Quant::Q8_0);
        let began = Arc::clone(began);
        let load = move |options: EngineOptions| {
            let file = File::from_bytes(bytes.clone()).unwrap();
            let layers = minfer_models::open(&file).unwrap().config().layers;
            let mut device = Overlapping::new(options.threads);
            device.ahead = Arc::clone(&began);
            let place = Placement::whole(TargetId(0), layers);
            Engine::with_devices(file, vec![Box::new(device)], place, options).unwrap()
        };
        let kv = KvTypes { key: KvType::F16, value: KvType::F16 };
        Case::new(Box::new(load), kv, 40)
    }

    fn new(load: Box<dyn Fn(EngineOptions) -> Engine>, kv: KvTypes, longest: usize) -> Case {
        let options = EngineOptions { kv, context: Some(160), ..options() };
        let alone = EngineOptions { prefix_cache: false, threads: 1, ..options.clone() };
        let mut engine = load(alone);
        let mut random = Random(3);
        let mut solo = Vec::new();
        for index in 0..REQUESTS {
            // Two beginnings, so that later requests find pages of earlier ones.
            let mut tokens = prompt(random.below(2) as u64, random.between(1, 64));
            tokens.extend(prompt(100 + index as u64, random.below(12)));
            let mut request = greedy(tokens, random.between(1, longest));
            if random.below(2) == 0 {
                let seed = index as u64;
                request.sampling = Params { seed, temperature: 1.0, ..Params::default() };
            }
            let done = engine.generate(request.clone(), &mut |_| ()).unwrap();
            assert_eq!(done.reason, FinishReason::Length);
            assert!(done.stats.logits_hash.is_some());
            solo.push((request, done.stats.logits_hash));
        }
        Case { load, options, solo }
    }
}

/// What the schedules came across.
#[derive(Debug, Default)]
struct Seen {
    finished: usize,
    cancelled: usize,
    hits: u64,
    preempted: u64,
}

fn run_schedule(case: &Case, seed: u64, threads: usize, seen: &mut Seen) {
    let mut random = Random(seed);
    let batch = [2, 7, 32, 64, 500][random.below(5)];
    let options = EngineOptions {
        threads,
        batch,
        chunk: Some(random.between(1, batch.min(40))),
        sequences: random.between(1, 8),
        kv_pages: Some(random.between(5, 13)),
        // It is for devices to make use of the kinds of steps; here they are only kept apart.
        deterministic: random.below(2) == 0,
        ..case.options.clone()
    };
    let mut engine = (case.load)(options);
    let mut waiting: Vec<usize> =
        (0..random.between(1, 8)).map(|_| random.below(REQUESTS)).collect();
    let mut running: BTreeMap<SequenceId, usize> = BTreeMap::new();
    while !waiting.is_empty() || !engine.is_idle() {
        let arrives = engine.is_idle() || random.below(3) == 0;
        if arrives && let Some(index) = waiting.pop() {
            running.insert(engine.submit(case.solo[index].0.clone()).unwrap(), index);
        }
        if random.below(200) == 0
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
                    let hash = case.solo[index].1;
                    assert_eq!(stats.logits_hash, hash, "schedule {seed}, {threads} threads");
                    seen.finished += 1;
                }
                other => panic!("schedule {seed}, {threads} threads: {other:?}"),
            }
        }
    }
    let stats = engine.stats();
    assert_eq!(stats.free_pages + stats.cached_pages, stats.total_pages, "schedule {seed} leaks");
    seen.hits += stats.prefix_hits;
    seen.preempted += stats.preempted;
}

/// All schedules with one type of KV page.
fn run_schedules(kv: KvType) {
    let cases = ARCHITECTURES.map(|architecture| Case::tiny(architecture, kv));
    let mut seen = Seen::default();
    for schedule in 0..SCHEDULES {
        for case in &cases {
            for threads in THREADS {
                run_schedule(case, schedule as u64, threads, &mut seen);
            }
        }
    }
    assert!(seen.finished > 10_000 && seen.cancelled > 250, "{seen:?}");
    assert!(seen.hits > 500 && seen.preempted > 100, "{seen:?}");
}

#[test]
fn two_hundred_schedules_equal_their_solo_runs_with_kv_f32() {
    run_schedules(KvType::F32);
}

#[test]
fn two_hundred_schedules_equal_their_solo_runs_with_kv_f16() {
    run_schedules(KvType::F16);
}

#[test]
fn two_hundred_schedules_equal_their_solo_runs_with_kv_q8_0() {
    run_schedules(KvType::Q8_0);
}

#[test]
fn fifty_schedules_equal_their_solo_runs_where_steps_begin_ahead() {
    let began = Arc::default();
    let cases = ARCHITECTURES.map(|architecture| Case::ahead(architecture, &began));
    let mut seen = Seen::default();
    for schedule in 0..50 {
        for case in &cases {
            run_schedule(case, schedule, 1 + schedule as usize % 2, &mut seen);
        }
    }
    assert!(seen.finished > 1000 && seen.cancelled > 25 && seen.hits > 100, "{seen:?}");
    assert!(began.load(Ordering::Relaxed) > 200, "{began:?}");
}

#[test]
fn ten_schedules_of_smollm2_equal_their_solo_runs() {
    let case = Case::smollm2();
    let mut seen = Seen::default();
    for schedule in 0..10 {
        run_schedule(&case, schedule, 2, &mut seen);
    }
    assert!(seen.finished > 20 && seen.hits > 0, "{seen:?}");
}
