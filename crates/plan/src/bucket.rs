//! Step shapes worth a Program: at most eight, whatever the prompts' lengths are.

/// Token and output rows of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// Token rows.
    pub tokens: usize,
    /// Output rows.
    pub outputs: usize,
}

/// The buckets of an engine, smallest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets(Vec<Bucket>);

/// Output rows of a step at most; scoring runs the head in slices of so many.
const MAX_OUTPUTS: usize = 32;

impl Buckets {
    /// Buckets for steps of at most `tokens` tokens: decode of one and of several, and prefill
    /// chunks in rising sizes.
    pub fn new(tokens: usize) -> Buckets {
        let tokens = tokens.max(1);
        let mut buckets = vec![Bucket { tokens: 1, outputs: 1 }];
        for (size, outputs) in [(8, 8), (32, 32), (128, 8), (512, 8)] {
            if size < tokens {
                buckets.push(Bucket { tokens: size, outputs });
            }
        }
        if tokens > 1 {
            buckets.push(Bucket { tokens, outputs: MAX_OUTPUTS.min(tokens) });
        }
        Buckets(buckets)
    }

    /// The smallest bucket that holds a step; `None` when none does.
    pub fn choose(&self, tokens: usize, outputs: usize) -> Option<Bucket> {
        self.0.iter().copied().find(|b| tokens <= b.tokens && outputs <= b.outputs)
    }

    /// All buckets.
    pub fn all(&self) -> &[Bucket] {
        &self.0
    }

    /// Tokens of the largest step.
    pub fn max_tokens(&self) -> usize {
        self.0.last().map_or(0, |b| b.tokens)
    }

    /// Output rows of the largest step.
    pub fn max_outputs(&self) -> usize {
        self.0.last().map_or(0, |b| b.outputs)
    }
}
