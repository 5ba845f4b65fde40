//! Contexts, pools, deadlines and cancels.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use minfer_engine::{
    Canceller, DeviceChoice, Engine, EngineOptions, Error, Event, FinishReason, Request,
};

use crate::harness::{ManualClock, Watched, engine, engine_on, greedy, options, prompt, run};

fn open_ended(prompt: Vec<u32>) -> Request {
    Request { max_tokens: None, ..greedy(prompt, 0) }
}

#[test]
fn a_full_context_ends_the_sequence() {
    for (architecture, context) in [("llama", 64), ("gemma3", 70)] {
        let options = EngineOptions { context: Some(context), ..options() };
        let mut engine = engine(architecture, options);
        assert_eq!(engine.context(), context);
        for (len, generated) in [(context - 1, 2), (context, 1), (context - 5, 6)] {
            let done = run(&mut engine, open_ended(prompt(5, len)));
            assert_eq!(done.reason, FinishReason::ContextFull, "{len} of {context}");
            assert_eq!(done.tokens.len(), generated);
        }
        let refused = engine.submit(open_ended(prompt(5, context + 1))).unwrap_err();
        let message = refused.to_string();
        assert!(message.contains(&(context + 1).to_string()), "{message}");
        assert!(message.contains(&context.to_string()), "{message}");
    }
}

#[test]
fn the_context_is_the_trained_one_by_default() {
    let engine = engine("llama", EngineOptions::default());
    assert_eq!(engine.context(), 512);
}

#[test]
fn options_out_of_range_are_refused_by_name() {
    let bad = [
        EngineOptions { sequences: 0, ..options() },
        EngineOptions { sequences: 33, ..options() },
        EngineOptions { batch: 0, ..options() },
        EngineOptions { context: Some(0), ..options() },
        EngineOptions { threads: 0, ..options() },
    ];
    let names = bad.map(|options| match options.validate() {
        Err(Error::Options { option, .. }) => option,
        other => panic!("{other:?}"),
    });
    assert_eq!(names, ["sequences", "sequences", "batch", "context", "threads"]);
    assert!("tpu".parse::<DeviceChoice>().is_err());
}

/// Steps until nothing is left; all news.
fn drain(engine: &mut Engine) -> Vec<Event> {
    let mut events = Vec::new();
    while !engine.is_idle() {
        events.extend(engine.step().unwrap());
    }
    events
}

fn reasons(events: &[Event]) -> Vec<FinishReason> {
    let reason = |event: &Event| match event {
        Event::Finished { reason, .. } => Some(reason.clone()),
        Event::Token { .. } => None,
    };
    events.iter().filter_map(reason).collect()
}

#[test]
fn a_cancelled_sequence_ends_with_the_next_step() {
    let mut engine = engine("llama", options());
    let id = engine.submit(greedy(prompt(1, 5), 50)).unwrap();
    let other = engine.submit(greedy(prompt(2, 5), 6)).unwrap();
    engine.step().unwrap();
    assert!(engine.cancel(id));
    let events = engine.step().unwrap();
    assert!(
        events
            .iter()
            .all(|event| event.sequence() != id || matches!(event, Event::Finished { .. }))
    );
    assert_eq!(reasons(&events), [FinishReason::Cancelled]);
    assert!(!engine.cancel(id));
    let rest = drain(&mut engine);
    assert_eq!(reasons(&rest), [FinishReason::Length]);
    assert!(rest.iter().all(|event| event.sequence() == other));
}

/// An engine whose device cancels a sequence as it starts to work on a step.
fn cancels_inside(flag: Arc<Mutex<Option<Canceller>>>) -> Engine {
    engine_on("llama", options(), |cpu| {
        let look = move |call| {
            if call == "wait"
                && let Some(canceller) = flag.lock().unwrap().take()
            {
                canceller.cancel();
            }
            Ok(())
        };
        Box::new(Watched { inner: Box::new(cpu), target: None, look: Arc::new(look) })
    })
    .unwrap()
}

#[test]
fn a_cancel_inside_a_prefill_ends_it_within_the_step() {
    let flag = Arc::default();
    let mut engine = cancels_inside(Arc::clone(&flag));
    let alone = run(&mut engine, greedy(prompt(2, 5), 8));
    let other = engine.submit(greedy(prompt(2, 5), 8)).unwrap();
    engine.step().unwrap();
    let id = engine.submit(greedy(prompt(1, 200), 8)).unwrap();
    *flag.lock().unwrap() = Some(engine.canceller(id));
    let events = engine.step().unwrap();
    assert_eq!(reasons(&events), [FinishReason::Cancelled]);
    assert!(events.iter().all(|event| event.sequence() == id), "the step was stopped");
    // The other sequence lost a step and nothing else.
    let rest = drain(&mut engine);
    let Some(Event::Finished { sequence, stats, .. }) = rest.last() else { panic!("{rest:?}") };
    assert_eq!((*sequence, stats.logits_hash), (other, alone.stats.logits_hash));
    assert_eq!(engine.stats().free_pages + engine.stats().cached_pages, engine.stats().total_pages);
}

#[test]
fn a_deadline_is_kept_inside_a_prefill_too() {
    let clock = ManualClock::ticking(Duration::from_millis(1));
    let mut engine = engine("llama", EngineOptions { clock, ..options() });
    let deadline = Some(Duration::from_millis(20));
    let request = Request { deadline, ..greedy(prompt(1, 200), 8) };
    let done = run(&mut engine, request);
    assert_eq!((done.reason, done.tokens.len()), (FinishReason::Deadline, 0));
    let deadline = Some(Duration::from_secs(10));
    let done = run(&mut engine, Request { deadline, ..greedy(prompt(1, 5), 3) });
    assert_eq!(done.reason, FinishReason::Length);
    assert!(done.stats.prefill > Duration::ZERO && done.stats.decode > Duration::ZERO);
}

#[test]
fn a_small_pool_serves_many_by_turns() {
    let small =
        EngineOptions { kv_pages: Some(4), context: Some(128), prefix_cache: false, ..options() };
    let mut engine = engine("llama", small);
    let requests: Vec<Request> = (0..5).map(|seed| greedy(prompt(seed, 20), 70)).collect();
    let expected: Vec<Option<u64>> = requests
        .iter()
        .map(|request| run(&mut engine, request.clone()).stats.logits_hash)
        .collect();
    let ids: Vec<_> = requests.into_iter().map(|r| engine.submit(r).unwrap()).collect();
    let mut found = vec![None; ids.len()];
    for event in drain(&mut engine) {
        if let Event::Finished { sequence, stats, reason } = event {
            assert_eq!(reason, FinishReason::Length);
            found[ids.iter().position(|id| *id == sequence).unwrap()] = stats.logits_hash;
        }
    }
    assert_eq!(found, expected);
    assert!(engine.stats().preempted > 0);
    assert_eq!(engine.stats().free_pages, 4);
}
