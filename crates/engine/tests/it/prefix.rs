//! A start from the prefix cache gives the same bytes.

use minfer_engine::{Completion, EngineOptions, Request};

use crate::harness::{ARCHITECTURES, Random, engine, greedy, options, prompt, run};

fn outcome(done: &Completion) -> (Option<u64>, &[u32]) {
    (done.stats.logits_hash, &done.tokens)
}

#[test]
fn a_hit_gives_the_same_bytes() {
    for architecture in ARCHITECTURES {
        let mut cached = engine(architecture, options());
        let mut fresh = engine(architecture, EngineOptions { prefix_cache: false, ..options() });
        let text = prompt(8, 150);
        run(&mut cached, greedy(text.clone(), 3));
        // Whole pages; all but the last token of whole pages (a copied page); less than what is
        // known.
        for (len, hit) in [(150, 128), (128, 127), (100, 96), (64, 63), (33, 32), (20, 0)] {
            let request = greedy(text[..len].to_vec(), 5);
            let (found, expected) = (run(&mut cached, request.clone()), run(&mut fresh, request));
            assert_eq!(outcome(&found), outcome(&expected), "{architecture} {len}");
            let windowed = architecture == "gemma3";
            assert!(found.stats.cached_tokens == hit || windowed, "{architecture} {len}");
            assert_eq!(expected.stats.cached_tokens, 0);
        }
    }
}

#[test]
fn a_windowed_model_hits_where_its_window_is_kept() {
    let mut engine = engine("gemma3", options());
    let text = prompt(8, 100);
    run(&mut engine, greedy(text.clone(), 3));
    assert_eq!(run(&mut engine, greedy(text, 3)).stats.cached_tokens, 96);
}

#[test]
fn generated_text_is_found_again() {
    let mut engine = engine("llama", options());
    let first = run(&mut engine, greedy(prompt(4, 30), 40));
    let mut next = prompt(4, 30);
    next.extend(&first.tokens);
    next.extend(prompt(5, 10));
    assert_eq!(run(&mut engine, greedy(next, 1)).stats.cached_tokens, 64);
    assert_eq!(engine.stats().prefix_tokens, 64);
}

#[test]
fn pages_are_evicted_when_they_are_needed() {
    let small = EngineOptions { kv_pages: Some(8), ..options() };
    let mut engine = engine("llama", small);
    let texts: Vec<Request> = (0..6).map(|seed| greedy(prompt(seed, 120), 2)).collect();
    let first: Vec<Option<u64>> =
        texts.iter().map(|r| run(&mut engine, r.clone()).stats.logits_hash).collect();
    let again: Vec<Option<u64>> =
        texts.iter().map(|r| run(&mut engine, r.clone()).stats.logits_hash).collect();
    assert_eq!(first, again);
    let stats = engine.stats();
    assert_eq!((stats.free_pages + stats.cached_pages, stats.total_pages), (8, 8));
}

#[test]
fn a_thousand_requests_leave_no_more_than_the_pool_holds() {
    let mut engine = engine("gemma3", EngineOptions { kv_pages: Some(12), ..options() });
    let pages = engine.stats().total_pages;
    let mut random = Random(1);
    for _ in 0..1000 {
        let seed = random.below(10) as u64;
        run(&mut engine, greedy(prompt(seed, 33 + random.below(30)), 2));
        let stats = engine.stats();
        assert_eq!((stats.free_pages + stats.cached_pages, stats.total_pages), (pages, pages));
    }
    assert!(engine.stats().prefix_hits > 100);
}
