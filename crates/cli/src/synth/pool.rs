//! Random blocks: one pool per format and spread, from which tensors are cut at random places.
//!
//! Bell-shaped values are encoded once, so that scales are as sound as those of real weights, and
//! then written many times: a file takes as long as its disk does.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use anyhow::{Context as _, Result};
use minfer_conformance::Seeded;
use minfer_quant::Quant;

use super::Spread;

/// Values of a pool: a multiple of every block.
const VALUES: usize = 1 << 19;
/// Bytes of one write at most.
const WRITE: usize = 1 << 18;

type Key = (Quant, u32, u32);

/// The pools of a model.
#[derive(Debug, Default)]
pub struct Pools(HashMap<Key, Vec<u8>>);

fn key(quant: Quant, spread: Spread) -> Option<Key> {
    match spread {
        Spread::Bell { middle, deviation } => Some((quant, middle.to_bits(), deviation.to_bits())),
        Spread::RopeFactors { .. } => None,
    }
}

impl Pools {
    /// Makes those that are needed, on some threads.
    ///
    /// # Errors
    /// A format has no encoder.
    pub fn make(
        needed: impl Iterator<Item = (Quant, Spread)>,
        seed: u64,
        threads: usize,
    ) -> Result<Pools> {
        let mut keys: Vec<Key> = needed.filter_map(|(quant, spread)| key(quant, spread)).collect();
        keys.sort_unstable();
        keys.dedup();
        // Each pool has a seed of its own: threads do not change what is written.
        let queue = Mutex::new(keys.into_iter().enumerate());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let made = thread::scope(|scope| {
            let work = || {
                let mut made = Vec::new();
                while let Some((index, key)) = next() {
                    made.push((key, blocks(key, seed.wrapping_add(index as u64))?));
                }
                Ok::<_, anyhow::Error>(made)
            };
            let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
            let ended = workers.into_iter().map(|worker| worker.join());
            ended.collect::<Vec<_>>()
        });
        let mut pools = Pools::default();
        for made in made {
            let made = made.map_err(|_| anyhow::anyhow!("a thread that makes weights panicked"))?;
            pools.0.extend(made?);
        }
        Ok(pools)
    }

    /// Writes a tensor's `bytes`, which are whole blocks.
    pub fn fill(
        &self,
        quant: Quant,
        spread: Spread,
        bytes: u64,
        seed: u64,
        out: &mut dyn Write,
        progress: &dyn Fn(u64),
    ) -> io::Result<()> {
        if let Spread::RopeFactors { base } = spread {
            return rope_factors(base, bytes / 4, out);
        }
        let pool = key(quant, spread).and_then(|key| self.0.get(&key));
        let pool = pool.ok_or_else(|| io::Error::other("a pool of weights is missing"))?;
        let (block, mut random) = (quant.block_bytes(), Seeded::new(seed));
        let blocks = pool.len() / block;
        let longest = (WRITE / block).clamp(1, blocks);
        let mut done = 0;
        while done < bytes {
            let start = random.below(blocks);
            let left = (bytes - done) / block as u64;
            let count = longest.min(blocks - start).min(left.try_into().unwrap_or(usize::MAX));
            out.write_all(&pool[start * block..(start + count) * block])?;
            done += (count * block) as u64;
            progress(done);
        }
        Ok(())
    }
}

/// A pool's bytes.
fn blocks((quant, middle, deviation): Key, seed: u64) -> Result<Vec<u8>> {
    let (middle, deviation) = (f32::from_bits(middle), f32::from_bits(deviation));
    let mut random = Seeded::new(seed);
    let values: Vec<f32> = (0..VALUES).map(|_| middle + deviation * random.bell()).collect();
    let mut bytes = vec![0; quant.row_bytes(VALUES)?];
    quant
        .encode(&values, &mut bytes)
        .with_context(|| format!("making {} weights", quant.name()))?;
    Ok(bytes)
}

/// llama3's factors for a context stretched 8 times from 8192: none for wavelengths below a
/// quarter of that context, 8 above all of it, between the two by how many times the wave fits.
fn rope_factors(base: f64, pairs: u64, out: &mut dyn Write) -> io::Result<()> {
    let (factor, low, high, context) = (8.0, 1.0, 4.0, 8192.0);
    for pair in 0..pairs {
        let frequency = base.powf(-(pair as f64) / pairs as f64);
        let fits = context * frequency / std::f64::consts::TAU;
        let smooth = ((fits - low) / (high - low)).clamp(0.0, 1.0);
        let stretched = 1.0 / ((1.0 - smooth) / factor + smooth);
        out.write_all(&(stretched as f32).to_le_bytes())?;
    }
    Ok(())
}
