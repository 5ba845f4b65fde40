//! What a generation took: the closing line, `timings` in JSON, and the table of `--profile`.

use std::time::Duration;

use minfer_engine::{Engine, FinishReason, KvTypes, SequenceStats, WaitProfile};
use minfer_graph::{Counts, StepKind, StepShape, Want};
use serde::Serialize;

use super::answer::Answer;
use super::load;
use crate::hub::peak;
use crate::output::rounded;

/// Times as llama.cpp names them, and what else is known.
#[derive(Debug, Serialize)]
pub struct Timings {
    cache_n: usize,
    prompt_n: usize,
    prompt_ms: f64,
    prompt_per_token_ms: f64,
    prompt_per_second: f64,
    predicted_n: usize,
    predicted_ms: f64,
    predicted_per_token_ms: f64,
    predicted_per_second: f64,
    first_token_ms: Option<f64>,
    gigabytes_per_second: f64,
    share_of_peak: Option<f64>,
}

/// Bytes that decoding reads: of weights for each token, and of the cache for each token and
/// position.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    weights: u64,
    per_position: u64,
    /// Bytes a second that the memory of its device gives, where that is known.
    peak: Option<f64>,
}

impl Traffic {
    /// Of a loaded model. Zero where the graph cannot say, which leaves out the figure.
    pub fn of(engine: &Engine) -> Traffic {
        let kv = engine.options().kv_types();
        let weights = decode_bytes(engine, kv).unwrap_or(0);
        let config = engine.model().config();
        let row = |kind: minfer_engine::KvType| kind.row_bytes(config.head_dim).unwrap_or(0);
        let layer = config.kv_heads * (row(kv.key) + row(kv.value));
        let per_position = (config.layers * layer) as u64;
        Traffic { weights, per_position, peak: peak_of(engine) }
    }

    /// The share of the peak that so many bytes a second are.
    pub fn share(self, speed: f64) -> Option<f64> {
        self.peak.map(|peak| speed / peak)
    }

    /// Bytes of a step after so many positions.
    pub fn of_step(self, positions: f64) -> f64 {
        self.weights as f64 + self.per_position as f64 * positions
    }

    /// Bytes a second of a generation's decode steps.
    fn per_second(self, stats: &SequenceStats) -> f64 {
        let steps = stats.generated.saturating_sub(1) as f64;
        let middle = stats.prompt_tokens as f64 + steps / 2.0;
        per_second(steps * self.of_step(middle), stats.decode)
    }
}

/// Bytes a second that its memory gives: a GPU's by its name, this machine's as it was measured.
fn peak_of(engine: &Engine) -> Option<f64> {
    match load::gpu(engine) {
        Some(caps) => caps.bytes_per_second,
        None => peak::bytes_per_second(),
    }
}

/// Bytes of weights that a step of one token reads.
fn decode_bytes(engine: &Engine, kv: KvTypes) -> Option<u64> {
    let want = Want::Logits;
    let (tokens, outputs) = (1, 1);
    let shape = StepShape {
        tokens,
        outputs,
        want,
        kind: StepKind::Mixed,
        kv,
        sequences: 1,
        pages: 1,
        work: 1,
        partials: 1,
    };
    let graph = engine.model().graph(&shape).ok()?;
    let counts = Counts { tokens, outputs };
    let bytes = graph.nodes.iter().map(|node| {
        let types = |ids: &[minfer_graph::ValueId]| -> Vec<_> {
            ids.iter().map(|id| graph.ty(*id)).collect()
        };
        let (inputs, outputs) = (types(&node.inputs), types(&node.outputs));
        node.op.cost(&inputs, &outputs, &graph.tables, &counts).weight_bytes
    });
    Some(bytes.sum())
}

fn per_second(amount: f64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { amount / time.as_secs_f64() }
}

fn per(time: Duration, count: usize) -> f64 {
    milliseconds(time) / count.max(1) as f64
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The times of an answer.
pub fn timings(answer: &Answer, traffic: Traffic) -> Timings {
    let stats = &answer.completion.stats;
    let computed = stats.prompt_tokens - stats.cached_tokens.min(stats.prompt_tokens);
    // The first token belongs to the prompt's time.
    let decoded = stats.generated.saturating_sub(1);
    let bytes = traffic.per_second(stats);
    Timings {
        cache_n: stats.cached_tokens,
        prompt_n: computed,
        prompt_ms: rounded(milliseconds(stats.prefill)),
        prompt_per_token_ms: rounded(per(stats.prefill, computed)),
        prompt_per_second: rounded(per_second(computed as f64, stats.prefill)),
        predicted_n: stats.generated,
        predicted_ms: rounded(milliseconds(stats.decode)),
        predicted_per_token_ms: rounded(per(stats.decode, decoded)),
        predicted_per_second: rounded(per_second(decoded as f64, stats.decode)),
        first_token_ms: answer.first_token.map(|time| rounded(milliseconds(time))),
        gigabytes_per_second: rounded(bytes / 1e9),
        share_of_peak: traffic.share(bytes).map(rounded),
    }
}

/// A hash as reports show it.
pub fn hash(value: u64) -> String {
    format!("{value:016x}")
}

/// The line that ends a generation.
pub fn closing_line(answer: &Answer, traffic: Traffic) -> String {
    let stats = &answer.completion.stats;
    let times = timings(answer, traffic);
    let mut line = format!("[{} prompt tokens", stats.prompt_tokens);
    if stats.cached_tokens > 0 {
        line += &format!(" ({} cached)", stats.cached_tokens);
    }
    line += &format!(", {:.1} tok/s", times.prompt_per_second);
    line += &format!(" | {} tokens", stats.generated);
    if times.predicted_per_second > 0.0 {
        line += &format!(", {:.1} tok/s", times.predicted_per_second);
        line += &format!(", {:.2} GB/s", times.gigabytes_per_second);
    }
    if let Some(share) = times.share_of_peak.filter(|share| *share > 0.0) {
        line += &format!(" ({:.0}% of peak)", share * 100.0);
    }
    if let Some(why) = ended(&answer.completion.reason) {
        line += &format!(" | {why}");
    }
    if answer.random {
        line += &format!(" | seed {}", answer.seed);
    }
    if let Some(logits) = stats.logits_hash {
        line += &format!(" | fingerprint of the numbers {}", hash(logits));
    }
    line + "]"
}

/// Why an answer ended where the model had not; `None` where it had, or where an error tells.
fn ended(reason: &FinishReason) -> Option<&'static str> {
    match reason {
        FinishReason::Stop | FinishReason::Failed(_) => None,
        FinishReason::Length => Some("as long as -n allows"),
        FinishReason::ContextFull => Some("the context is full"),
        FinishReason::Cancelled => Some("interrupted"),
        FinishReason::Deadline => Some("ended by --timeout"),
    }
}

/// The table of `--profile`.
pub fn profile(engine: &Engine) -> String {
    let (rows, peak) = (engine.profile(), peak_of(engine));
    let total: u64 = rows.iter().map(|row| row.nanoseconds).sum();
    let mut text = format!(
        "{:<16} {:<34} {:>8} {:>10} {:>6} {:>10} {:>8} {:>8} {:>10}\n",
        "op", "kernel", "calls", "ms", "%", "MB", "GB/s", "of peak", "encode µs"
    );
    for row in &rows {
        let time = Duration::from_nanos(row.nanoseconds);
        let speed = per_second(row.bytes as f64, time);
        let share = peak.map_or("-".into(), |peak| format!("{:.0}%", speed / peak * 100.0));
        let encoding = match row.encoding {
            0 => "-".to_owned(),
            time => format!("{:.1}", time as f64 / 1e3 / row.calls.max(1) as f64),
        };
        text += &format!(
            "{:<16} {:<34} {:>8} {:>10.2} {:>6.1} {:>10.1} {:>8.2} {share:>8} {encoding:>10}\n",
            row.op,
            row.kernel,
            row.calls,
            milliseconds(time),
            row.nanoseconds as f64 * 100.0 / total.max(1) as f64,
            row.bytes as f64 / 1e6,
            speed / 1e9,
        );
    }
    let total = Duration::from_nanos(total);
    text += &format!("{:<16} {:<34} {:>8} {:>10.2}", "all", "", "", milliseconds(total));
    let WaitProfile { submits, nanoseconds } = engine.waits();
    if submits > 0 {
        let each = milliseconds(Duration::from_nanos(nanoseconds)) / submits as f64;
        text += &format!("\nthe host waited for {submits} submits, {each:.2} ms each");
    }
    text
}
