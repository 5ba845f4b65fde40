//! One request at a time: how it ends, and what it gives.

use minfer_engine::{
    Engine, Error, Event, FinishReason, Grammar, Params, Piece, Request, SequenceId,
};

use crate::harness::{ARCHITECTURES, engine, greedy, options, prompt, run};

/// The end token of the tiny models.
const END: u32 = 2;

#[test]
fn every_architecture_generates_as_many_tokens_as_asked() {
    for architecture in ARCHITECTURES {
        let mut engine = engine(architecture, options());
        let done = run(&mut engine, greedy(prompt(1, 9), 12));
        assert_eq!(done.reason, FinishReason::Length, "{architecture}");
        assert_eq!((done.tokens.len(), done.stats.generated), (12, 12));
        assert_eq!((done.stats.prompt_tokens, done.stats.cached_tokens), (9, 0));
        assert!(engine.is_idle());
    }
}

#[test]
fn the_reference_device_and_the_cpu_agree() {
    let mut hashes = ["reference", "cpu"].map(|name| {
        let device = name.parse().unwrap();
        let mut engine = engine("gemma3", minfer_engine::EngineOptions { device, ..options() });
        run(&mut engine, greedy(prompt(1, 40), 4)).stats.logits_hash
    });
    hashes.sort_unstable();
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn an_end_token_ends_and_can_be_ignored() {
    let mut engine = engine("llama", options());
    let sampling = Params { logit_bias: vec![(END, 1e6)], ..Params::greedy() };
    let request = Request { sampling, ..greedy(prompt(1, 5), 6) };
    let stopped = run(&mut engine, Request { ignore_eos: false, ..request.clone() });
    assert_eq!((stopped.reason, stopped.tokens), (FinishReason::Stop, vec![END]));
    let ignored = run(&mut engine, request);
    assert_eq!(ignored.reason, FinishReason::Length);
    assert!(!ignored.tokens.contains(&END));
}

/// Text of ordinary letters: all other tokens are banned.
fn letters(engine: &Engine, max_tokens: usize) -> Request {
    let banned = (0..288).filter(|id| {
        let piece = engine.tokenizer().piece(*id).unwrap_or_default();
        !matches!(piece, [byte] if byte.is_ascii_alphabetic())
    });
    let bias = banned.map(|id| (id, f32::NEG_INFINITY)).collect();
    let sampling = Params { logit_bias: bias, temperature: 1.5, seed: 4, ..Params::default() };
    Request { sampling, ..greedy(prompt(3, 7), max_tokens) }
}

#[test]
fn stop_strings_end_the_text_and_never_show() {
    let mut engine = engine("llama", options());
    let request = letters(&engine, 24);
    let whole = run(&mut engine, request.clone());
    assert_eq!(whole.text.len(), 24);
    for at in [3, 11, 20] {
        let stop = whole.text[at..at + 3].to_owned();
        let never = format!("{}#", &whole.text[1..3]);
        let mut shown = String::new();
        let request = Request { stop: vec![never, stop.clone()], ..request.clone() };
        let done = engine
            .generate(request, &mut |event| {
                if let Event::Token { text, .. } = event {
                    shown.push_str(text);
                    assert!(whole.text.starts_with(&shown));
                    assert!(!shown.contains(&stop));
                }
            })
            .unwrap();
        assert_eq!(done.reason, FinishReason::Stop);
        assert_eq!(done.text, whole.text[..whole.text.find(&stop).unwrap()]);
        assert_eq!(done.text, shown);
    }
}

#[test]
fn text_held_for_a_stop_string_comes_with_the_last_token() {
    let mut engine = engine("llama", options());
    let request = letters(&engine, 10);
    let whole = run(&mut engine, request.clone());
    let possible = format!("{}#", &whole.text[8..]);
    let done = run(&mut engine, Request { stop: vec![possible], ..request });
    assert_eq!((done.reason, done.text), (FinishReason::Length, whole.text));
}

#[test]
fn a_grammar_is_kept_and_ends_the_text() {
    let mut engine = engine("qwen2", options());
    let grammar = Some(Grammar::regex("[0-9]{3}-[a-f]{2}").unwrap());
    let request = Request { grammar, ignore_eos: false, ..greedy(prompt(2, 6), 40) };
    let done = run(&mut engine, request);
    assert_eq!(done.reason, FinishReason::Stop);
    let text = done.text.as_bytes();
    assert_eq!(text.len(), 6, "{}", done.text);
    assert!(text[..3].iter().all(u8::is_ascii_digit) && text[3] == b'-', "{}", done.text);
}

#[test]
fn log_probabilities_come_with_their_token() {
    let mut engine = engine("llama", options());
    let request = Request { logprobs: 5, ..greedy(prompt(1, 5), 3) };
    let mut seen = 0;
    engine
        .generate(request, &mut |event| {
            if let Event::Token { id, logprob, top, .. } = event {
                assert_eq!(top.len(), 5);
                assert_eq!(Some(top[0]), logprob.map(|logprob| (*id, logprob)));
                assert!(top.windows(2).all(|pair| pair[0].1 >= pair[1].1));
                seen += 1;
            }
        })
        .unwrap();
    assert_eq!(seen, 3);
}

#[test]
fn the_same_seed_gives_the_same_text() {
    let mut engine = engine("llama", options());
    let mut text = |seed| {
        let sampling = Params { seed, temperature: 1.0, ..Params::default() };
        run(&mut engine, Request { sampling, ..greedy(prompt(1, 5), 20) }).tokens
    };
    let (a, b, c) = (text(1), text(1), text(2));
    assert_eq!(a, b);
    assert_ne!(a, c);
}

#[test]
fn zero_tokens_compute_the_prompt_alone() {
    let mut engine = engine("llama", options());
    let done = run(&mut engine, greedy(prompt(1, 70), 0));
    assert_eq!((done.reason, done.tokens.len()), (FinishReason::Length, 0));
    assert_eq!(run(&mut engine, greedy(prompt(1, 70), 1)).stats.cached_tokens, 64);
}

#[test]
fn requests_that_cannot_be_run_are_refused() {
    let mut engine = engine("llama", options());
    let mut refused = |request: Request| engine.submit(request).unwrap_err();
    let stop = vec![String::new()];
    let request = greedy(prompt(1, 3), 1);
    assert!(matches!(refused(greedy(vec![], 1)), Error::Refused(_)));
    assert!(matches!(refused(greedy(vec![288], 1)), Error::Request { field: "prompt", .. }));
    assert!(matches!(refused(Request { stop, ..request.clone() }), Error::Request { .. }));
    let sampling = Params { top_p: f32::NAN, ..Params::greedy() };
    assert!(matches!(refused(Request { sampling, ..request }), Error::Sample(_)));
    assert!(engine.is_idle());
    assert!(!engine.cancel(SequenceId(99)));
}

#[test]
fn control_tokens_are_parsed_in_trusted_pieces_alone() {
    let engine = engine("llama", options());
    let encode = |pieces: &[(&str, bool)]| {
        let pieces: Vec<Piece<'_>> =
            pieces.iter().map(|(text, trusted)| Piece { text, trusted: *trusted }).collect();
        engine.encode(&pieces).unwrap()
    };
    let trusted = encode(&[("<s>ab</s>", true)]);
    assert_eq!((trusted[0], trusted.last()), (1, Some(&END)));
    assert_eq!(trusted.iter().filter(|id| **id == 1).count(), 1, "no second begin token");
    let plain = encode(&[("<s>ab</s>", false)]);
    assert_eq!(plain.iter().filter(|id| **id == 1 || **id == END).count(), 1);
    assert!(!encode(&[("</", true), ("s>", false)]).contains(&END));
    assert_eq!(encode(&[("a", true), ("b", false)]), encode(&[("ab", false)]));
}
