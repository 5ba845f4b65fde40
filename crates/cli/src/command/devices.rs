//! `minfer devices`: what is here, and with `--measure` how fast its memory can be read.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use minfer_engine::available;
use serde_json::json;

use super::load;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::hub::peak;
use crate::hub::repository::size;
use crate::output::{self, Style};

/// Words that a measurement reads: half a gigabyte, more than caches hold.
const WORDS: usize = 64 << 20;
/// Passes of a measurement; the fastest counts.
const PASSES: usize = 8;

/// The command.
///
/// # Errors
/// A measurement cannot be kept.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let threads = load::threads(settings);
    if settings.on(&table::MEASURE) {
        let _progress = style.spinner("reading memory");
        let speed = read_speed(threads);
        let path = peak::keep(speed)?;
        output::note(&format!("measured with {threads} threads; kept in {}", path.display()));
    }
    let devices = available(threads);
    let peak = peak::bytes_per_second();
    if settings.on(&table::JSON) {
        let rows = devices.iter().map(|device| {
            json!({
                "device": device.choice.name(),
                "name": device.name,
                "features": device.features,
                "memory_bytes": device.memory_bytes,
                "threads": device.threads,
            })
        });
        let rows: Vec<_> = rows.collect();
        return output::json(&json!({ "devices": rows, "bytes_per_second": peak }));
    }
    let mut text = String::new();
    for device in &devices {
        let features = match device.features.as_str() {
            "" => String::new(),
            features => format!(" ({features})"),
        };
        let memory = device.memory_bytes.map_or("the host's".to_owned(), size);
        text += &format!(
            "{:<14} {}{features}, {} threads, memory: {memory}\n",
            device.choice.name(),
            device.name,
            device.threads
        );
    }
    text += &match peak {
        Some(peak) => format!(
            "memory is read at {:.1} GB/s, as measured here; `bench` and --profile show \
             their share of it\n",
            peak / 1e9
        ),
        None => "`minfer devices --measure` finds in a second or two how fast memory can be read, \
                 and keeps it: `bench` and --profile then show their share of it\n"
            .to_owned(),
    };
    output::print(&text)
}

/// Bytes a second that so many threads read together, each a part of its own.
fn read_speed(threads: usize) -> f64 {
    let words = vec![1_u64; WORDS];
    let part = WORDS.div_ceil(threads.max(1));
    let mut best = Duration::MAX;
    for _ in 0..PASSES {
        let start = Instant::now();
        let sum: u64 = thread::scope(|scope| {
            let workers: Vec<_> =
                words.chunks(part).map(|part| scope.spawn(move || sum(part))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or(0)).sum()
        });
        // The sum is used, so that reading cannot be left out.
        if sum == WORDS as u64 {
            best = best.min(start.elapsed());
        }
    }
    (WORDS * size_of::<u64>()) as f64 / best.as_secs_f64()
}

/// Sixteen sums side by side, so that adding does not hold reading up.
fn sum(words: &[u64]) -> u64 {
    let (blocks, rest) = words.as_chunks::<16>();
    let mut sums = [0_u64; 16];
    for block in blocks {
        for (sum, word) in sums.iter_mut().zip(block) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter().chain(rest).fold(0, |all, word| all.wrapping_add(*word))
}
