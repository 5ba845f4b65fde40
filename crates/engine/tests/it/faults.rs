//! Devices that fail, numbers that are none, files that shrink: the requests concerned fail, the
//! engine lives on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minfer_conformance::tiny_file;
use minfer_engine::{Engine, EngineOptions, Event, FinishReason};
use minfer_gguf::File;
use minfer_plan::DeviceError;
use minfer_quant::Quant;

use crate::harness::{Watched, engine, engine_on, greedy, options, prompt, run};

fn failure() -> DeviceError {
    DeviceError::Failed { device: "cpu".into(), reason: "it broke".into(), recent: Vec::new() }
}

/// An engine whose device fails at call `at` (counted from 1) and works before and after.
fn failing(at: usize, calls: Arc<AtomicUsize>) -> Result<Engine, minfer_engine::Error> {
    engine_on("llama", EngineOptions { sequences: 2, ..options() }, |cpu| {
        let look = move |_| match calls.fetch_add(1, Ordering::Relaxed) + 1 == at {
            true => Err(failure()),
            false => Ok(()),
        };
        Box::new(Watched { inner: Box::new(cpu), target: None, look: Arc::new(look) })
    })
}

/// What three requests come to; the third waits for a place, and shares whole pages with the first.
fn outcomes(engine: &mut Engine) -> Vec<(u64, FinishReason, Option<u64>)> {
    for (seed, len) in [(1, 64), (2, 5), (1, 64)] {
        engine.submit(greedy(prompt(seed, len), 4)).unwrap();
    }
    let mut outcomes = Vec::new();
    while !engine.is_idle() {
        for event in engine.step().into_iter().flatten() {
            if let Event::Finished { sequence, reason, stats } = event {
                outcomes.push((sequence.0, reason, stats.logits_hash));
            }
        }
    }
    outcomes.sort_by_key(|outcome| outcome.0);
    outcomes
}

#[test]
fn whichever_call_fails_the_engine_lives_on() {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut engine = failing(0, Arc::clone(&calls)).unwrap();
    let loading = calls.load(Ordering::Relaxed);
    let expected = outcomes(&mut engine);
    assert!(expected.iter().all(|(_, reason, _)| *reason == FinishReason::Length));
    let all = calls.load(Ordering::Relaxed);
    assert!(loading == 2 && all > 20, "{loading} {all}");
    for at in 1..=all {
        let calls = Arc::default();
        let Ok(mut engine) = failing(at, calls) else {
            assert!(at <= loading);
            continue;
        };
        assert!(at > loading);
        let found = outcomes(&mut engine);
        let failed = |reason: &FinishReason| match reason {
            FinishReason::Failed(text) => text.contains("it broke"),
            _ => false,
        };
        assert!(found.iter().any(|(_, reason, _)| failed(reason)), "call {at}: {found:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(failed(&found.1) || found == expected, "call {at}: {found:?}");
        }
        let stats = engine.stats();
        assert_eq!(stats.free_pages + stats.cached_pages, stats.total_pages);
        let again = outcomes(&mut engine);
        let hashes = |outcomes: &[(u64, FinishReason, Option<u64>)]| {
            outcomes.iter().map(|outcome| outcome.2).collect::<Vec<_>>()
        };
        assert_eq!(hashes(&again), hashes(&expected), "call {at}");
    }
}

#[test]
fn devices_that_do_not_come_back_are_tried_again() {
    let broken = Arc::new(AtomicUsize::new(0));
    let flag = Arc::clone(&broken);
    let mut engine = engine_on("llama", options(), |cpu| {
        let look = move |call| match flag.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ if call == "wait" || call == "recover" => Err(failure()),
            _ => Ok(()),
        };
        Box::new(Watched { inner: Box::new(cpu), target: None, look: Arc::new(look) })
    })
    .unwrap();
    let expected = run(&mut engine, greedy(prompt(1, 5), 4));
    broken.store(1, Ordering::Relaxed);
    assert!(engine.generate(greedy(prompt(1, 5), 4), &mut |_| ()).is_err());
    assert!(engine.is_idle());
    assert!(engine.generate(greedy(prompt(1, 5), 4), &mut |_| ()).is_err());
    assert!(engine.score(&prompt(1, 5), 0, &mut |_, _| ()).is_err());
    broken.store(0, Ordering::Relaxed);
    assert!(engine.score(&prompt(1, 5), 0, &mut |_, _| ()).is_ok());
    assert_eq!(run(&mut engine, greedy(prompt(1, 5), 4)), expected);
}

#[test]
fn a_device_that_stops_for_no_reason_has_failed() {
    let mut engine = engine_on("llama", options(), |cpu| {
        let look = move |call| match call == "wait" {
            true => Err(DeviceError::Cancelled),
            false => Ok(()),
        };
        Box::new(Watched { inner: Box::new(cpu), target: None, look: Arc::new(look) })
    })
    .unwrap();
    let done = run(&mut engine, greedy(prompt(1, 5), 4));
    assert!(matches!(done.reason, FinishReason::Failed(_)), "{done:?}");
}

#[test]
fn a_score_that_fails_takes_running_sequences_with_it() {
    let broken = Arc::new(AtomicUsize::new(0));
    let flag = Arc::clone(&broken);
    let mut engine = engine_on("llama", options(), |cpu| {
        let look = move |call| match call == "wait" && flag.swap(0, Ordering::Relaxed) == 1 {
            true => Err(failure()),
            false => Ok(()),
        };
        Box::new(Watched { inner: Box::new(cpu), target: None, look: Arc::new(look) })
    })
    .unwrap();
    engine.submit(greedy(prompt(1, 5), 4)).unwrap();
    engine.step().unwrap();
    broken.store(1, Ordering::Relaxed);
    assert!(engine.score(&prompt(2, 40), 0, &mut |_, _| ()).is_err());
    let events = engine.step().unwrap();
    assert!(matches!(&events[..], [Event::Finished { reason: FinishReason::Failed(_), .. }]));
    assert!(engine.score(&prompt(2, 40), 0, &mut |_, _| ()).is_ok());
}

#[test]
fn not_a_number_fails_its_own_sequence_alone() {
    const BAD: u32 = 200;
    let bytes = tiny_file("llama", Quant::F16);
    let file = File::from_bytes(bytes.clone()).unwrap();
    let embedding = file.tensor("token_embd.weight").unwrap();
    let row = embedding.dims[0] as usize * 2;
    let start = embedding.offset as usize + BAD as usize * row;
    let mut bytes = bytes;
    bytes[start..start + row].copy_from_slice(&[0x00, 0x7E].repeat(row / 2));
    let load = || Engine::from_file(File::from_bytes(bytes.clone()).unwrap(), options()).unwrap();

    let good: Vec<u32> = prompt(1, 40).into_iter().filter(|id| *id != BAD).collect();
    let bias = vec![(BAD, f32::NEG_INFINITY)];
    let mut request = greedy(good, 6);
    request.sampling.logit_bias = bias;
    let expected = run(&mut load(), request.clone());

    let mut engine = load();
    let mut bad = prompt(2, 70);
    bad[10] = BAD;
    let bad = engine.submit(greedy(bad, 6)).unwrap();
    let good = engine.submit(request.clone()).unwrap();
    let mut seen = Vec::new();
    while !engine.is_idle() {
        for event in engine.step().unwrap() {
            if let Event::Finished { sequence, reason, stats } = event {
                seen.push((sequence, reason, stats.logits_hash));
            }
        }
    }
    let (id, reason, _) = &seen[0];
    assert_eq!(*id, bad);
    assert!(
        matches!(reason, FinishReason::Failed(text) if text.contains("numeric fault")),
        "{reason:?}"
    );
    assert_eq!(seen[1], (good, FinishReason::Length, expected.stats.logits_hash));
    // Its pages go to others, who never see what it left in them.
    for _ in 0..3 {
        assert_eq!(run(&mut engine, request.clone()).tokens, expected.tokens);
    }
}

#[test]
fn a_file_that_shrinks_fails_the_requests_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shrinks.gguf");
    std::fs::write(&path, tiny_file("llama", Quant::Q8_0)).unwrap();
    let mut engine = Engine::load(&path, options()).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(0).unwrap();
    let done = run(&mut engine, greedy(prompt(1, 5), 4));
    let named = |text: &str| text.contains("shrinks.gguf");
    assert!(matches!(&done.reason, FinishReason::Failed(text) if named(text)), "{done:?}");
    assert!(done.tokens.is_empty());
    let whole = run(&mut self::engine("llama", options()), greedy(prompt(1, 5), 4));
    assert_eq!(whole.reason, FinishReason::Length);
}
