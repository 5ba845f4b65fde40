//! Logits of given texts.

use minfer_engine::{EngineOptions, Error, LogitsHash};

use crate::harness::{ARCHITECTURES, engine, greedy, options, prompt, run};

#[test]
fn chunks_do_not_matter() {
    for architecture in ARCHITECTURES {
        let mut engine = engine(architecture, options());
        let text = prompt(6, 120);
        let mut outcomes = Vec::new();
        for chunk in [1, 7, 32, 500] {
            let (mut hash, mut positions) = (LogitsHash::default(), Vec::new());
            engine
                .score_chunked(&text, chunk, &|position| position >= 50, &mut |position, row| {
                    positions.push(position);
                    hash.push(row);
                })
                .unwrap();
            assert_eq!(positions, (50..120).collect::<Vec<_>>());
            outcomes.push(hash.value());
        }
        outcomes.dedup();
        assert_eq!(outcomes.len(), 1, "{architecture}");
    }
}

#[test]
fn the_last_row_is_what_generation_samples() {
    let mut engine = engine("qwen3", options());
    let text = prompt(6, 60);
    let mut hash = LogitsHash::default();
    engine.score(&text, 59, &mut |_, row| hash.push(row)).unwrap();
    assert_eq!(run(&mut engine, greedy(text, 1)).stats.logits_hash, Some(hash.value()));
}

#[test]
fn chosen_positions_come_alone() {
    let mut engine = engine("llama", options());
    let wanted = [0, 3, 99];
    let mut found = Vec::new();
    let text = prompt(6, 110);
    engine
        .score_chunked(&text, 500, &|p| wanted.contains(&p), &mut |p, row| {
            assert_eq!(row.len(), 288);
            found.push(p);
        })
        .unwrap();
    assert_eq!(found, wanted);
    let stats = engine.stats();
    assert_eq!(stats.free_pages, stats.total_pages);
}

#[test]
fn texts_that_do_not_fit_are_refused() {
    let mut engine = engine("llama", EngineOptions { kv_pages: Some(8), ..options() });
    let mut score = |text: &[u32]| engine.score(text, 0, &mut |_, _| ());
    assert!(matches!(score(&prompt(1, 257)), Err(Error::Request { field: "tokens", .. })));
    assert!(matches!(score(&[288]), Err(Error::Request { field: "tokens", .. })));
    engine.submit(greedy(prompt(1, 130), 3)).unwrap();
    engine.step().unwrap();
    let busy = engine.score(&prompt(2, 200), 0, &mut |_, _| ());
    assert!(matches!(busy, Err(Error::Pages { position: 96, last: 199 })), "{busy:?}");
}
