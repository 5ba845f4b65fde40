//! `minfer bench`: prompt and generation speed, in llama-bench's columns.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};
use minfer_engine::{Clock as _, Engine, EngineOptions, Params, Request};
use minfer_gguf::File;
use serde::Serialize;

use super::report::{self, Traffic};
use super::{inspect, load, sampling};
use crate::clock::SystemClock;
use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::{Flag, table};
use crate::hub::locate;
use crate::hub::repository::size;
use crate::output::{self, Style, rounded};

/// Longest prompt, generation or depth.
const LENGTH_MAX: usize = 1 << 20;
/// Most threads, as of `--threads`.
const THREADS_MAX: usize = 1024;

/// What is measured: a prompt of `prompt` tokens and then a generation of `generate`, after `depth`
/// positions.
#[derive(Clone, Copy, Debug)]
struct Test {
    prompt: usize,
    generate: usize,
    depth: usize,
}

impl Test {
    fn name(self) -> String {
        let what = match (self.prompt, self.generate) {
            (0, generate) => format!("tg{generate}"),
            (prompt, 0) => format!("pp{prompt}"),
            (prompt, generate) => format!("pp{prompt}+tg{generate}"),
        };
        if self.depth == 0 { what } else { format!("{what} @ d{}", self.depth) }
    }
}

/// A row of the table: llama-bench's fields of JSON, and the speed of memory.
#[derive(Debug, Serialize)]
struct Row {
    build_version: &'static str,
    cpu_info: String,
    backends: String,
    model_filename: String,
    model_type: String,
    model_size: u64,
    model_n_params: u64,
    n_batch: usize,
    n_ubatch: usize,
    n_threads: usize,
    type_k: &'static str,
    type_v: &'static str,
    n_prompt: usize,
    n_gen: usize,
    n_depth: usize,
    test_time: u64,
    avg_ns: f64,
    stddev_ns: f64,
    avg_ts: f64,
    stddev_ts: f64,
    samples_ns: Vec<u64>,
    samples_ts: Vec<f64>,
    gigabytes_per_second: Option<f64>,
    share_of_peak: Option<f64>,
    #[serde(skip)]
    test: String,
}

/// The command.
///
/// # Errors
/// No model, lists that are not understood, or an engine that fails.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let tests = tests(settings)?;
    let longest = tests.iter().map(|t| t.depth.max(1) + t.prompt + t.generate + 2).max();
    let given = load::options(settings)?;
    let path = locate(settings, style)?;
    let context = given.context.max(longest);
    let options = EngineOptions { context, prefix_cache: true, ..given };
    let format = settings.text(&table::OUTPUT_FORMAT).unwrap_or("md");
    let mut rows = Vec::new();
    let mut seed = sampling::seed(settings);
    let mut engine = None;
    for threads in thread_counts(settings)? {
        let options = EngineOptions { threads, ..options.clone() };
        // The memory of one is free before the next one is loaded.
        engine = match engine.take() {
            None => {
                let first = load::engine_with(settings, style, options)?;
                load::warn_beyond(&first, longest.unwrap_or(0), settings);
                Some(first)
            }
            Some(before) => {
                drop::<Engine>(before);
                Some(load::another(settings, style, options)?)
            }
        };
        let Some(engine) = &mut engine else { continue };
        let about = About::of(engine, &path.to_string_lossy());
        for test in &tests {
            let _progress = style.spinner("measuring");
            let samples = samples(engine, *test, settings, &mut seed)?;
            let row = about.row(engine, *test, &samples);
            match format {
                "md" => markdown(&row, rows.is_empty())?,
                "csv" => csv(&row, rows.is_empty())?,
                "jsonl" => output::json(&row)?,
                _json => {}
            }
            rows.push(row);
        }
    }
    if format == "json" {
        output::pretty_json(&rows)?;
    }
    let unknown = |row: &Row| row.gigabytes_per_second.is_some() && row.share_of_peak.is_none();
    let measured = engine.as_ref().is_some_and(|engine| load::gpu(engine).is_none());
    if format == "md" && measured && rows.iter().any(unknown) {
        output::note(
            "hint: `of peak` is blank until `minfer devices --measure` has measured how fast this \
             machine's memory can be read",
        );
    }
    if let Some(engine) = engine.filter(|_| settings.on(&table::PROFILE)) {
        output::note(&report::profile(&engine));
    }
    Ok(())
}

/// Numbers of threads, each of which is measured with.
fn thread_counts(settings: &Settings) -> Result<Vec<usize>> {
    if settings.text(&table::THREADS_LIST).is_none() {
        return Ok(vec![load::threads(settings)]);
    }
    let counts = numbers(settings, &table::THREADS_LIST)?;
    if let Some(count) = counts.iter().find(|count| !(1..=THREADS_MAX).contains(*count)) {
        return Err(usage(format!("--threads {count}: expected numbers from 1 to {THREADS_MAX}")));
    }
    Ok(counts)
}

/// Every run of a test but the first, which warms up: pages of the file, programs, pools.
fn samples(
    engine: &mut Engine,
    test: Test,
    settings: &Settings,
    seed: &mut u64,
) -> Result<Vec<(usize, Duration)>> {
    let mut samples = Vec::new();
    for repetition in 0..=settings.count(&table::REPETITIONS) {
        *seed = seed.wrapping_add(1);
        let sample = sample(engine, test, *seed)?;
        if repetition > 0 {
            samples.push(sample);
        }
    }
    Ok(samples)
}

/// Prompts, then generations, then both in one, at every depth.
fn tests(settings: &Settings) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for depth in numbers(settings, &table::BENCH_DEPTH)? {
        let prompts = numbers(settings, &table::BENCH_PROMPT)?.into_iter();
        tests.extend(prompts.map(|prompt| Test { prompt, generate: 0, depth }));
        let lengths = numbers(settings, &table::BENCH_GEN)?.into_iter();
        tests.extend(lengths.map(|generate| Test { prompt: 0, generate, depth }));
        for text in settings.list(&table::BENCH_BOTH) {
            let (prompt, generate) = both(text)?;
            tests.push(Test { prompt, generate, depth });
        }
    }
    tests.retain(|test| test.prompt + test.generate > 0);
    if tests.is_empty() {
        return Err(usage("nothing to measure: -p and -n are both 0"));
    }
    Ok(tests)
}

fn numbers(settings: &Settings, flag: &'static Flag) -> Result<Vec<usize>> {
    let text = settings.text(flag).unwrap_or_default();
    parse(text).ok_or_else(|| {
        usage(format!(
            "--{} {text:?}: expected numbers up to {LENGTH_MAX}, parted by commas",
            flag.name
        ))
    })
}

/// A prompt and a generation: `512,128`.
fn both(text: &str) -> Result<(usize, usize)> {
    match parse(text).as_deref() {
        Some([prompt, generate]) => Ok((*prompt, *generate)),
        Some(_) | None => Err(usage(format!(
            "--{} {text:?}: expected two numbers up to {LENGTH_MAX}, such as 512,128",
            table::BENCH_BOTH.name
        ))),
    }
}

fn parse(text: &str) -> Option<Vec<usize>> {
    let number = |part: &str| part.trim().parse().ok().filter(|number| *number <= LENGTH_MAX);
    text.split(',').map(number).collect()
}

/// One run: tokens, and the time that they took.
fn sample(engine: &mut Engine, test: Test, seed: u64) -> Result<(usize, Duration)> {
    // Text before the measured part comes from the prefix cache; the part itself is new each time.
    let before = tokens(engine, 1, test.depth);
    let request = |prompt: Vec<u32>, max: usize| Request {
        prompt,
        sampling: Params::greedy(),
        max_tokens: Some(max),
        ignore_eos: true,
        ..Request::default()
    };
    if !before.is_empty() {
        engine.generate(request(before.clone(), 0), &mut |_| {})?;
    }
    if test.prompt > 0 {
        let mut prompt = before;
        prompt.extend(tokens(engine, seed, test.prompt));
        // The first token that is written belongs to the prompt.
        let written = if test.generate > 0 { test.generate + 1 } else { 0 };
        let start = SystemClock.now();
        let stats = engine.generate(request(prompt, written), &mut |_| {})?.stats;
        let computed = stats.prompt_tokens - stats.cached_tokens.min(stats.prompt_tokens);
        return Ok((computed + stats.generated.saturating_sub(1), SystemClock.now() - start));
    }
    let prompt = if before.is_empty() { tokens(engine, seed, 1) } else { before };
    // The first token belongs to the prompt.
    let stats = engine.generate(request(prompt, test.generate + 1), &mut |_| {})?.stats;
    ensure!(stats.generated > 1, "expected {} tokens, found {}", test.generate, stats.generated);
    Ok((stats.generated - 1, stats.decode))
}

/// Random ids of the vocabulary (SplitMix64).
fn tokens(engine: &Engine, seed: u64, count: usize) -> Vec<u32> {
    let vocabulary = engine.model().config().vocabulary as u64;
    let mut random = minfer_conformance::Seeded::new(seed);
    (0..count).map(|_| (random.bits() % vocabulary) as u32).collect()
}

/// What all rows have in common.
struct About {
    file: String,
    kind: String,
    bytes: u64,
    parameters: u64,
    traffic: Traffic,
}

impl About {
    fn of(engine: &Engine, path: &str) -> About {
        let file = engine.file();
        About {
            file: path.to_owned(),
            kind: kind(engine, file),
            bytes: inspect::tensor_bytes(file),
            parameters: inspect::parameters(file),
            traffic: Traffic::of(engine),
        }
    }

    fn row(&self, engine: &Engine, test: Test, samples: &[(usize, Duration)]) -> Row {
        let options = engine.options();
        let devices: Vec<_> = engine.devices().cloned().collect();
        let names: Vec<&str> = devices.iter().map(|caps| caps.kind.name()).collect();
        let times: Vec<f64> = samples.iter().map(|(_, time)| time.as_nanos() as f64).collect();
        let speeds: Vec<f64> =
            samples.iter().map(|(count, time)| *count as f64 / time.as_secs_f64()).collect();
        let (avg_ts, stddev_ts) = statistics(&speeds);
        let (avg_ns, stddev_ns) = statistics(&times);
        // A prompt reads each weight once for many tokens: only generation is bound by memory.
        let middle = test.depth as f64 + test.generate as f64 / 2.0;
        let bytes = (test.prompt == 0).then(|| self.traffic.of_step(middle) * avg_ts);
        Row {
            build_version: env!("CARGO_PKG_VERSION"),
            cpu_info: devices.first().map_or(String::new(), |caps| caps.name.clone()),
            backends: names.join("+"),
            model_filename: self.file.clone(),
            model_type: self.kind.clone(),
            model_size: self.bytes,
            model_n_params: self.parameters,
            n_batch: options.batch,
            n_ubatch: options.chunk.unwrap_or(options.batch),
            n_threads: options.threads,
            type_k: options.kv_types().key.name(),
            type_v: options.kv_types().value.name(),
            n_prompt: test.prompt,
            n_gen: test.generate,
            n_depth: test.depth,
            test_time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()),
            avg_ns: rounded(avg_ns),
            stddev_ns: rounded(stddev_ns),
            avg_ts: rounded(avg_ts),
            stddev_ts: rounded(stddev_ts),
            samples_ns: samples.iter().map(|(_, time)| time.as_nanos() as u64).collect(),
            samples_ts: speeds.into_iter().map(rounded).collect(),
            gigabytes_per_second: bytes.map(|bytes| rounded(bytes / 1e9)),
            share_of_peak: bytes.and_then(|speed| self.traffic.share(speed)).map(rounded),
            test: test.name(),
        }
    }
}

/// Names of `general.file_type`, as llama-quantize has them.
const FILE_TYPES: &[(u32, &str)] = &[
    (0, "F32"),
    (1, "F16"),
    (2, "Q4_0"),
    (3, "Q4_1"),
    (7, "Q8_0"),
    (8, "Q5_0"),
    (9, "Q5_1"),
    (10, "Q2_K"),
    (11, "Q3_K_S"),
    (12, "Q3_K_M"),
    (13, "Q3_K_L"),
    (14, "Q4_K_S"),
    (15, "Q4_K_M"),
    (16, "Q5_K_S"),
    (17, "Q5_K_M"),
    (18, "Q6_K"),
    (19, "IQ2_XXS"),
    (20, "IQ2_XS"),
    (21, "Q2_K_S"),
    (22, "IQ3_XS"),
    (23, "IQ3_XXS"),
    (24, "IQ1_S"),
    (25, "IQ4_NL"),
    (26, "IQ3_S"),
    (27, "IQ3_M"),
    (28, "IQ2_S"),
    (29, "IQ2_M"),
    (30, "IQ4_XS"),
    (31, "IQ1_M"),
    (32, "BF16"),
    (36, "TQ1_0"),
    (37, "TQ2_0"),
    (38, "MXFP4"),
    (39, "NVFP4"),
];

/// Architecture, size class and mix, or else the format that most weights have: `llama 135M Q4_1`.
fn kind(engine: &Engine, file: &File) -> String {
    let label = match file.metadata().str("general.size_label") {
        Ok(Some(label)) => label.to_owned(),
        Ok(None) | Err(_) => match inspect::parameters(file) {
            count @ 0..1_000_000_000 => format!("{:.0}M", count as f64 / 1e6),
            count => format!("{:.1}B", count as f64 / 1e9),
        },
    };
    let quants = minfer_quant::Quant::ALL.iter().copied();
    let bytes = |quant: minfer_quant::Quant| -> u64 {
        file.tensors().iter().filter(|tensor| tensor.quant == quant).map(|t| t.bytes).sum()
    };
    let most = || quants.max_by_key(|quant| bytes(*quant)).map_or("", minfer_quant::Quant::name);
    let id = file.metadata().u32("general.file_type").ok().flatten();
    let known = id.and_then(|id| FILE_TYPES.iter().find(|(known, _)| *known == id));
    let mix = known.map_or_else(most, |(_, name)| name);
    format!("{} {label} {mix}", engine.model().config().architecture)
}

/// Mean and standard deviation of a sample.
fn statistics(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() };
    (mean, deviation)
}

/// Columns of the table: heading, width, and whether text stands on the right.
const COLUMNS: [(&str, usize, bool); 11] = [
    ("model", 24, false),
    ("size", 10, true),
    ("params", 10, true),
    ("backend", 9, false),
    ("threads", 7, true),
    ("type_k", 6, true),
    ("type_v", 6, true),
    ("test", 14, true),
    ("t/s", 20, true),
    ("GB/s", 7, true),
    ("of peak", 7, true),
];

fn markdown(row: &Row, first: bool) -> Result<()> {
    if first {
        let rule = COLUMNS.map(|(_, width, right)| match right {
            true => format!("{:-<width$}:", "", width = width - 1),
            false => "-".repeat(width),
        });
        output::line(&table_line(&COLUMNS.map(|(name, ..)| name.to_owned())))?;
        output::line(&table_line(&rule))?;
    }
    let share = row.share_of_peak.map_or(String::new(), |share| format!("{:.0}%", share * 100.0));
    output::line(&table_line(&[
        row.model_type.clone(),
        size(row.model_size),
        format!("{:.2} M", row.model_n_params as f64 / 1e6),
        row.backends.clone(),
        row.n_threads.to_string(),
        row.type_k.to_owned(),
        row.type_v.to_owned(),
        row.test.clone(),
        format!("{:.2} ± {:.2}", row.avg_ts, row.stddev_ts),
        row.gigabytes_per_second.map_or(String::new(), |speed| format!("{speed:.2}")),
        share,
    ]))
}

fn table_line(cells: &[String; COLUMNS.len()]) -> String {
    let cells = cells.iter().zip(COLUMNS).map(|(cell, (_, width, right))| match right {
        true => format!("| {cell:>width$} "),
        false => format!("| {cell:<width$} "),
    });
    cells.collect::<String>() + "|"
}

/// The fields of JSON but for the samples, quoted.
fn csv(row: &Row, first: bool) -> Result<()> {
    let value = serde_json::to_value(row)?;
    let fields = value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_array());
    let (names, values): (Vec<&str>, Vec<String>) = fields
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.as_str(), format!("\"{}\"", text.replace('"', "\"\"")))
        })
        .unzip();
    if first {
        output::line(&names.join(","))?;
    }
    output::line(&values.join(","))
}
