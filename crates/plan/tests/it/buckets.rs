//! Step shapes: few, and the smallest that fits.

use minfer_plan::{Bucket, Buckets};

#[test]
fn there_are_few_for_any_batch() {
    for batch in 0..=4096 {
        let buckets = Buckets::new(batch);
        let all = buckets.all();
        assert!((1..=8).contains(&all.len()), "{batch}: {all:?}");
        assert_eq!(all[0], Bucket { tokens: 1, outputs: 1 }, "decode has its own");
        assert_eq!(buckets.max_tokens(), batch.max(1));
        assert_eq!(buckets.max_outputs(), batch.clamp(1, 32));
        assert!(all.windows(2).all(|pair| pair[0].tokens < pair[1].tokens), "{batch}: {all:?}");
        assert!(all.iter().all(|b| b.outputs <= b.tokens && b.outputs <= 32), "{batch}: {all:?}");
        // The last holds whatever any other holds.
        assert!(all.iter().all(|b| b.outputs <= buckets.max_outputs()), "{batch}: {all:?}");
    }
}

#[test]
fn the_smallest_that_holds_a_step_is_chosen() {
    for batch in [1, 2, 7, 8, 9, 32, 33, 100, 512, 513, 2048] {
        let buckets = Buckets::new(batch);
        for tokens in 0..=batch + 1 {
            for outputs in [0, 1, 2, 8, 9, 31, 32, 33] {
                let fits = |b: &&Bucket| tokens <= b.tokens && outputs <= b.outputs;
                let smallest = buckets.all().iter().filter(fits).min_by_key(|b| b.tokens);
                let chosen = buckets.choose(tokens, outputs);
                assert_eq!(chosen, smallest.copied(), "{tokens}/{outputs} of {batch}");
                let possible = tokens <= batch && outputs <= batch.min(32);
                assert_eq!(chosen.is_some(), possible, "{tokens}/{outputs} of {batch}");
            }
        }
    }
}

#[test]
fn all_prompts_together_need_eight_shapes() {
    let buckets = Buckets::new(2048);
    let mut shapes: Vec<Bucket> = Vec::new();
    for length in 1..=8192usize {
        let mut left = length;
        while left > 0 {
            let chunk = left.min(buckets.max_tokens());
            let bucket = buckets.choose(chunk, usize::from(chunk == left)).unwrap();
            if !shapes.contains(&bucket) {
                shapes.push(bucket);
            }
            left -= chunk;
        }
    }
    assert!(shapes.len() <= 8, "{shapes:?}");
}
