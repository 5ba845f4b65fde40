//! Steps that begin before the one before them is known: whatever a request gives, it gives the
//! same as when each step is waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use minfer_conformance::tiny_file;
use minfer_engine::{
    Completion, Engine, EngineOptions, Event, FinishReason, Params, Placement, Request, TargetId,
};
use minfer_gguf::File;
use minfer_plan::DeviceError;
use minfer_quant::Quant;

use crate::harness::{ARCHITECTURES, Overlapping, Watched, engine, greedy, options, prompt, run};

/// An engine whose steps begin ahead, and how many did.
fn overlapping(architecture: &str, options: EngineOptions) -> (Engine, Arc<AtomicU64>) {
    let (engine, ahead, _) = counted(architecture, options);
    (engine, ahead)
}

/// The same, and how many bytes of results were read.
fn counted(architecture: &str, options: EngineOptions) -> (Engine, Arc<AtomicU64>, Arc<AtomicU64>) {
    let device = Overlapping::new(2);
    let (ahead, read) = (Arc::clone(&device.ahead), Arc::clone(&device.read));
    let file = File::from_bytes(tiny_file(architecture, Quant::Q8_0)).unwrap();
    let layers = minfer_models::open(&file).unwrap().config().layers;
    let place = Placement::whole(TargetId(0), layers);
    (Engine::with_devices(file, vec![Box::new(device)], place, options).unwrap(), ahead, read)
}

/// A completion with all its events.
fn events(engine: &mut Engine, request: &Request) -> (Completion, Vec<Event>) {
    let mut events = Vec::new();
    let done = engine.generate(request.clone(), &mut |event| events.push(event.clone())).unwrap();
    // Numbers of sequences count up.
    for event in &mut events {
        match event {
            Event::Token { sequence, .. } | Event::Finished { sequence, .. } => sequence.0 = 0,
        }
    }
    (done, events)
}

#[test]
fn every_request_gives_the_same_events() {
    for architecture in ARCHITECTURES {
        let mut plain = engine(architecture, options());
        let (mut engine, ahead) = overlapping(architecture, options());
        let whole = greedy(prompt(1, 40), 20);
        let (expected, all) = events(&mut plain, &whole);
        assert_eq!(events(&mut engine, &whole), (expected.clone(), all));
        let began = ahead.load(Ordering::Relaxed);
        assert_eq!(began, 19, "{architecture}: all steps but the first begin ahead");
        // Texts that end early, wherever the end shows first, leave a step of no use.
        let texts = [3, 9].map(|at| expected.text.chars().skip(at).take(2).collect::<String>());
        let stops = texts.into_iter().filter(|text| !text.is_empty());
        let stopping = stops.map(|stop| Request { stop: vec![stop], ..whole.clone() });
        let second = expected.tokens[1];
        let banned = Params { logit_bias: vec![(second, f32::NEG_INFINITY)], ..Params::greedy() };
        let others = [
            Request { sampling: banned, ..whole.clone() },
            Request { sampling: Params { temperature: 1.0, ..Params::default() }, ..whole.clone() },
            Request { logprobs: 3, ..whole.clone() },
            Request { max_tokens: Some(1), ..whole.clone() },
            Request { max_tokens: None, ..greedy(prompt(5, 200), 0) },
        ];
        for request in stopping.chain(others) {
            for fingerprint in [true, false] {
                let request = Request { fingerprint, ..request.clone() };
                let expected = events(&mut plain, &request);
                assert_eq!(events(&mut engine, &request), expected, "{architecture}");
            }
        }
        let stats = engine.stats();
        assert_eq!(stats.free_pages + stats.cached_pages, stats.total_pages);
    }
}

#[test]
fn the_next_part_of_a_prompt_begins_while_this_one_runs() {
    let whole = EngineOptions { prefix_cache: false, ..options() };
    let cut = EngineOptions { chunk: Some(7), batch: 16, ..whole.clone() };
    for architecture in ARCHITECTURES {
        let mut plain = engine(architecture, whole.clone());
        let (mut engine, ahead) = overlapping(architecture, cut.clone());
        for sampling in [Params::greedy(), Params { temperature: 1.0, ..Params::default() }] {
            let request = Request { sampling, ..greedy(prompt(1, 100), 3) };
            let expected = run(&mut plain, request.clone());
            let before = ahead.load(Ordering::Relaxed);
            assert_eq!(run(&mut engine, request), expected, "{architecture}");
            // Of 15 parts the first is waited for by none, and so are tokens that are drawn.
            let begun = ahead.load(Ordering::Relaxed) - before;
            assert!(begun >= 14, "{architecture}: {begun}");
        }
    }
}

#[test]
fn an_end_token_leaves_no_trace_of_the_step_after_it() {
    let mut plain = engine("llama", options());
    let first = run(&mut plain, greedy(prompt(2, 20), 12)).tokens;
    let (mut engine, ahead) = overlapping("llama", options());
    // The end token is made the choice where the text is already on its way.
    let bias = first.iter().map(|id| (*id, -4.0)).chain([(2, 3.0)]).collect();
    let sampling = Params { logit_bias: bias, ..Params::greedy() };
    let request = Request { sampling, ignore_eos: false, ..greedy(prompt(2, 20), 100) };
    let expected = run(&mut plain, request.clone());
    for _ in 0..3 {
        assert_eq!(run(&mut engine, request.clone()).tokens, expected.tokens);
        assert_eq!(run(&mut engine, greedy(prompt(2, 20), 12)).tokens, first);
    }
    assert!(ahead.load(Ordering::Relaxed) > 0);
}

#[test]
fn texts_are_scored_between_steps_that_began_ahead() {
    let (mut engine, _) = overlapping("gemma3", options());
    let mut scores = Vec::new();
    let mut score = |engine: &mut Engine| {
        let mut rows = Vec::new();
        engine.score(&prompt(7, 50), 0, &mut |_, row| rows.extend_from_slice(row)).unwrap();
        scores.push(rows);
    };
    score(&mut engine);
    let alone = run(&mut engine, greedy(prompt(1, 9), 6)).tokens;
    let id = engine.submit(greedy(prompt(1, 9), 6)).unwrap();
    let mut tokens = Vec::new();
    while !engine.is_idle() {
        for event in engine.step().unwrap() {
            if let Event::Token { sequence, id: token, .. } = event {
                assert_eq!(sequence, id);
                tokens.push(token);
            }
        }
        score(&mut engine);
    }
    assert_eq!(tokens, alone);
    assert!(scores.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn whichever_step_fails_the_next_request_is_right() {
    let whole = greedy(prompt(3, 40), 8);
    let expected = run(&mut engine("llama", options()), whole.clone());
    for (call, count) in [("submit", 8), ("wait", 8)] {
        for at in 1..=count {
            let calls = AtomicU64::new(0);
            let look = move |name| match name == call {
                true if calls.fetch_add(1, Ordering::Relaxed) + 1 == at => {
                    let reason = "it broke".to_owned();
                    Err(DeviceError::Failed { device: "cpu".into(), reason, recent: Vec::new() })
                }
                _ => Ok(()),
            };
            let inner = Box::new(Overlapping::new(1));
            let device = Box::new(Watched { inner, target: None, look: Arc::new(look) });
            let file = File::from_bytes(tiny_file("llama", Quant::Q8_0)).unwrap();
            let layers = minfer_models::open(&file).unwrap().config().layers;
            let place = Placement::whole(TargetId(0), layers);
            let mut engine = Engine::with_devices(file, vec![device], place, options()).unwrap();
            let failed = run(&mut engine, whole.clone());
            let why = FinishReason::Failed(String::new()).name();
            assert_eq!(failed.reason.name(), why, "{call} {at}: {failed:?}");
            assert!(expected.tokens.starts_with(&failed.tokens), "{call} {at}");
            assert_eq!(run(&mut engine, whole.clone()), expected, "{call} {at}");
        }
    }
}

#[test]
fn logits_are_read_only_where_a_request_looks_at_them() {
    let default = || Params { seed: 5, ..Params::default() };
    let end = Params { logit_bias: vec![(9, f32::NEG_INFINITY)], ..Params::greedy() };
    let likes = Params { logit_bias: vec![(9, 0.5)], ..Params::greedy() };
    let penalties = minfer_sample::Penalties { repeat: 1.2, ..default().penalties };
    let repeats = Params { penalties, ..Params::greedy() };
    // Tokens, and with each its logit: of one, or of forty where some are banned or drawn.
    let [one, forty, all] = [8, 8 * 40, 4 * 288];
    let cases = [
        (Params::greedy(), 0, one),
        (end, 0, forty),
        (default(), 0, forty),
        (Params { top_k: 41, ..default() }, 0, all),
        (Params { top_k: 0, ..default() }, 0, all),
        (likes, 0, all),
        (repeats, 0, all),
        (Params::greedy(), 2, all),
    ];
    for architecture in ["llama", "qwen3moe"] {
        let (mut engine, ahead, read) = counted(architecture, options());
        for (sampling, logprobs, row) in cases.clone() {
            let prompt = prompt(4, 30);
            let seen = Request { sampling, ignore_eos: false, logprobs, ..greedy(prompt, 12) };
            let unseen = Request { fingerprint: false, ..seen.clone() };
            let expected = run(&mut engine, seen);
            let before = [&ahead, &read].map(|count| count.load(Ordering::Relaxed));
            let found = run(&mut engine, unseen);
            let after = [&ahead, &read].map(|count| count.load(Ordering::Relaxed));
            assert_eq!((&found.text, &found.tokens), (&expected.text, &expected.tokens));
            assert_eq!(found.stats.logits_hash, None);
            let tokens = found.tokens.len() as u64;
            let bytes = after[1] - before[1];
            // Ids may be read once more, for the step that has begun with them.
            let most = tokens * (row + 4 * row.min(forty) / 8);
            assert!((tokens * row..=most).contains(&bytes), "{architecture}: {row}, {bytes}");
            let begun = after[0] - before[0];
            assert!(row != one || begun + 1 == tokens, "{architecture}: {begun} of {tokens}");
        }
    }
}

#[test]
fn rows_that_look_at_more_share_a_step_with_rows_that_do_not() {
    let (mut engine, _) = overlapping("qwen3", options());
    let drawn = Request { sampling: Params::default(), ..greedy(prompt(2, 20), 10) };
    let plain = Request { fingerprint: false, ..greedy(prompt(1, 9), 10) };
    let hashed = greedy(prompt(3, 30), 10);
    let requests = [plain, Request { fingerprint: false, ..drawn }, hashed];
    let alone = requests.clone().map(|request| run(&mut engine, request));
    let ids = requests.map(|request| engine.submit(request).unwrap());
    let mut tokens = [const { Vec::new() }; 3];
    let mut hashes = [None; 3];
    while !engine.is_idle() {
        for event in engine.step().unwrap() {
            let place = ids.iter().position(|id| *id == event.sequence()).unwrap();
            match event {
                Event::Token { id, .. } => tokens[place].push(id),
                Event::Finished { stats, .. } => hashes[place] = stats.logits_hash,
            }
        }
    }
    for (place, alone) in alone.iter().enumerate() {
        assert_eq!(tokens[place], alone.tokens);
        assert_eq!(hashes[place], alone.stats.logits_hash);
    }
    assert_eq!(hashes.map(|hash| hash.is_some()), [false, false, true]);
}
