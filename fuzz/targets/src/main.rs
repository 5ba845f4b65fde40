//! The driver: changes inputs of a target's corpus for some seconds and calls the target, on stable
//! Rust, without coverage.
//!
//! The input in progress lies in `fuzz/artifacts/<target>`, so that it is there after an abort too,
//! and so does the one that took longest.
//! Inputs with a new outcome join the pool of this run; the corpus on disk stays as it is.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command's output is its result")]

use std::collections::HashSet;
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use minfer_fuzz_targets::mutate::Mutator;
use minfer_fuzz_targets::{TARGETS, Target};

const USAGE: &str = "minfer-fuzz TARGET SECONDS [SEED]   changes inputs of the corpus
minfer-fuzz TARGET FILE             runs one input
minfer-fuzz seeds                   writes the inputs to start from";

/// A call that takes longer hangs.
const CALL_MAX: Duration = Duration::from_secs(20);

/// Memory that no target has a use for.
const MEMORY_KIB_MAX: u64 = 2 << 20;

/// Inputs with an outcome of their own that are kept.
const POOL_MAX: usize = 4096;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["seeds"] => write_seeds(),
        [name, seconds] => target(name).and_then(|target| match seconds.parse() {
            Ok(seconds) => fuzz(target, seconds, 1),
            Err(_) => run_one(target, Path::new(seconds)),
        }),
        [name, seconds, seed] => parse(seconds)
            .and_then(|seconds| Ok((seconds, parse(seed)?)))
            .and_then(|(seconds, seed)| fuzz(target(name)?, seconds, seed)),
        _ => Err(anyhow::anyhow!("expected one of these:\n{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(number: &str) -> Result<u64> {
    number.parse().with_context(|| format!("`{number}` is not a number"))
}

fn target(name: &str) -> Result<&'static Target> {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let found = TARGETS.iter().find(|target| target.name == name);
    found.with_context(|| format!("no target `{name}`; there are {}", names.join(", ")))
}

fn folder(of: &str, target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of).join(target.name)
}

fn write_seeds() -> Result<()> {
    for target in TARGETS {
        let folder = folder("corpus", target);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in (target.seeds)() {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}

fn run_one(target: &Target, path: &Path) -> Result<()> {
    let input = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let start = Instant::now();
    let outcome = (target.run)(&input);
    println!("{}: {outcome} in {:?}", target.name, start.elapsed());
    Ok(())
}

fn fuzz(target: &Target, seconds: u64, seed: u64) -> Result<()> {
    let mut pool = Vec::new();
    for entry in fs::read_dir(folder("corpus", target)).context("run `minfer-fuzz seeds`")? {
        pool.push(entry?.path());
    }
    pool.sort();
    let mut pool = pool.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let artifacts = folder("artifacts", target);
    fs::create_dir_all(&artifacts)?;
    let current = artifacts.join("current");
    let watch = Watch::start(target.name, current.clone());
    let mut mutator = Mutator::new(seed);
    let mut seen = HashSet::new();
    let (begin, mut count, mut slowest) = (Instant::now(), 0u64, Duration::ZERO);
    let corpus = pool.len();
    while begin.elapsed() < Duration::from_secs(seconds) {
        let input = match pool.get(count as usize).filter(|_| (count as usize) < corpus) {
            Some(input) => input.clone(),
            None => mutator.input(&pool, target.dictionary),
        };
        fs::write(&current, &input)?;
        let start = Instant::now();
        watch.begin();
        let Ok(outcome) = panic::catch_unwind(|| (target.run)(&input)) else {
            bail!("{}: seed {seed}, call {count}: see {}", target.name, current.display());
        };
        watch.end();
        if start.elapsed() > slowest {
            slowest = start.elapsed();
            fs::write(artifacts.join("slowest"), &input)?;
        }
        count += 1;
        if seen.insert(outcome) && count as usize > corpus && pool.len() < POOL_MAX {
            pool.push(input);
        }
    }
    fs::remove_file(&current)?;
    println!(
        "{}: seed {seed}, {count} calls in {:.1} s, {} outcomes, slowest call {:.0} ms, at most \
         {} MiB, no finding",
        target.name,
        begin.elapsed().as_secs_f64(),
        seen.len(),
        slowest.as_secs_f64() * 1e3,
        memory_kib() >> 10,
    );
    Ok(())
}

/// The most memory that this process has had, in KiB; zero where the system does not say.
fn memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Ends the process when a call takes too long or too much memory.
struct Watch {
    origin: Instant,
    /// Milliseconds after the origin at which the call in progress began; zero for none.
    began: Arc<AtomicU64>,
}

impl Watch {
    fn start(name: &'static str, current: PathBuf) -> Watch {
        let watch = Watch { origin: Instant::now(), began: Arc::new(AtomicU64::new(0)) };
        let (origin, began) = (watch.origin, watch.began.clone());
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(50));
                let began = Duration::from_millis(began.load(Ordering::Relaxed));
                let hangs = !began.is_zero() && origin.elapsed() > began + CALL_MAX;
                let memory = memory_kib();
                if hangs || memory > MEMORY_KIB_MAX {
                    let what = if hangs { "a call hangs" } else { "a call takes all memory" };
                    eprintln!("{name}: {what} ({} MiB): see {}", memory >> 10, current.display());
                    process::exit(1);
                }
            }
        });
        watch
    }

    fn begin(&self) {
        self.began.store(self.origin.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
    }
}
