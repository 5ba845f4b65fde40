//! The random numbers: Philox4x32-10, a counter-based generator.
//!
//! Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011);
//! the tests hold the vectors its authors publish. Being a function of (key, counter) and nothing
//! else, it makes the draw for the n-th token a function of (seed, n): batching, cancelled tokens
//! and other requests cannot move it.
//!
//! One token takes one draw of 128 bits: words 0 and 1 choose the token, words 2 and 3 decide
//! whether XTC acts. Mirostat adds no draw of its own. Not for secrets.

/// The draw for one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    words: [u32; 4],
}

impl Draw {
    /// The draw number `index` (0 for the first sampled token) under `seed`: key (seed low, seed
    /// high), counter (index low, index high, 0, 0).
    pub fn new(seed: u64, index: u64) -> Draw {
        let key = [seed as u32, (seed >> 32) as u32];
        Draw { words: philox([index as u32, (index >> 32) as u32, 0, 0], key) }
    }

    /// Uniform in [0, 1) with 53 bits: chooses the token.
    pub fn token(self) -> f64 {
        unit(self.words[0], self.words[1])
    }

    /// Uniform in [0, 1) with 53 bits: XTC acts when it is below the stage's probability.
    pub fn xtc(self) -> f64 {
        unit(self.words[2], self.words[3])
    }
}

fn unit(low: u32, high: u32) -> f64 {
    let bits = (u64::from(high) << 32) | u64::from(low);
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Ten rounds of Philox4x32 over `counter` under `key`.
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let first = u64::from(counter[0]) * 0xD251_1F53;
        let second = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}
