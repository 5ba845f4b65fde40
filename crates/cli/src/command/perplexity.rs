//! `minfer perplexity`: how well a model foresees a text; with `--kl`, how far the normal path is
//! from the exact one.
//!
//! The text's tokens are cut into chunks of n; the rest is left out. Of each chunk the second half
//! counts, positions n/2 to n - 1: the predictions after them are compared with the exact path's,
//! and all but the last of them with the text. A chunk begins with the begin token where the model
//! wants one (in place of its first token).

use std::sync::mpsc;
use std::thread;

use anyhow::{Result, anyhow, ensure};
use minfer_engine::{Engine, EngineOptions};
use serde::Serialize;

use super::logprob::Row;
use super::{load, prompt, report, score};
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// Tokens of a chunk when nothing is said.
const CHUNK: usize = 512;
/// Rows that the exact path may be ahead.
const ROWS_AHEAD: usize = 8;

/// One chunk.
#[derive(Clone, Debug, Serialize)]
struct Chunk {
    /// Mean negative log-likelihood.
    nll: f64,
    /// Perplexity of all chunks so far.
    ppl: f64,
}

/// What `--kl` adds: the exact path against the normal one.
#[derive(Debug, Serialize)]
struct Comparison {
    exact_ppl: f64,
    rows: usize,
    mean: f64,
    median: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
    same_top: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    ppl: f64,
    tokens: usize,
    chunks: Vec<Chunk>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kl: Option<Comparison>,
}

/// The command.
///
/// # Errors
/// No text, one shorter than a chunk, or a context that is too long for the model.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let text = prompt::text(settings, "")?;
    let length = settings.some_count(&table::CTX_SIZE).unwrap_or(CHUNK);
    ensure!(length >= 4, "--ctx-size: expected chunks of at least 4 tokens, found {length}");
    let options = EngineOptions { context: Some(length), ..load::options(settings)? };
    let mut engine = load::engine_with(settings, style, options.clone())?;
    let chunks = chunks(&engine, &text, length, settings.some_count(&table::CHUNKS))?;
    let exact = settings.on(&table::KL).then_some(EngineOptions { exact: true, ..options });
    let report = measure(settings, style, &mut engine, &chunks, exact)?;
    if settings.on(&table::JSON) {
        output::json(&report)?;
    } else {
        output::print(&text_of(&report))?;
    }
    if settings.on(&table::PROFILE) {
        output::note(&report::profile(&engine));
    }
    Ok(())
}

/// The chunks of a text.
fn chunks(
    engine: &Engine,
    text: &str,
    length: usize,
    most: Option<usize>,
) -> Result<Vec<Vec<u32>>> {
    let tokenizer = engine.tokenizer();
    let ids = tokenizer.encode_prompt(text, minfer_tokenizer::Special::Plain)?;
    ensure!(
        ids.len() >= length,
        "expected a text of at least one chunk of {length} tokens, found {}: give a longer text, \
         or shorter chunks with -c",
        ids.len()
    );
    let mut chunks: Vec<Vec<u32>> = ids.chunks_exact(length).map(<[u32]>::to_vec).collect();
    chunks.truncate(most.unwrap_or(usize::MAX));
    if let Some(start) = tokenizer.prompt_start() {
        chunks.iter_mut().for_each(|chunk| chunk[0] = start);
    }
    Ok(chunks)
}

fn is_scored(position: usize, length: usize) -> bool {
    (length / 2..length).contains(&position)
}

/// Runs all chunks, beside an exact engine on a thread of its own when there is one to compare
/// with: its rows come one by one, so that no more than a few are in memory.
fn measure(
    settings: &Settings,
    style: Style,
    engine: &mut Engine,
    chunks: &[Vec<u32>],
    exact: Option<EngineOptions>,
) -> Result<Report> {
    let (sender, receiver) = mpsc::sync_channel(ROWS_AHEAD);
    let compared = exact.is_some();
    thread::scope(|scope| {
        let other = exact.map(|options| {
            scope.spawn(move || exact_rows(settings, style, options, chunks, &sender))
        });
        let mut tally = Tally::default();
        let progress = style.steps("perplexity", chunks.len() as u64);
        let mut result = Ok(true);
        for (index, chunk) in chunks.iter().enumerate() {
            progress.at(index as u64);
            result = tally.chunk(engine, chunk, compared.then_some(&receiver));
            if !matches!(result, Ok(true)) {
                break;
            }
        }
        // The exact thread stops when nobody takes its rows.
        drop(receiver);
        if let Some(thread) = other {
            let ended = thread.join().map_err(|_| anyhow!("the exact path's thread panicked"))?;
            // It sees our end as its own failure, so ours is the one to tell.
            let complete = result?;
            ended?;
            ensure!(complete, "the exact path gave no more rows");
        } else {
            result?;
        }
        Ok(tally.report(compared))
    })
}

fn exact_rows(
    settings: &Settings,
    style: Style,
    options: EngineOptions,
    chunks: &[Vec<u32>],
    rows: &mpsc::SyncSender<Vec<f32>>,
) -> Result<()> {
    let mut engine = load::another(settings, style, options)?;
    for chunk in chunks {
        let mut gone = false;
        let wanted = |position| is_scored(position, chunk.len());
        let step = score::chunk(&engine);
        engine.score_chunked(chunk, step, &wanted, &mut |_, logits| {
            gone |= rows.send(logits.to_vec()).is_err();
        })?;
        ensure!(!gone, "the normal path ended early");
    }
    Ok(())
}

/// What has been seen.
#[derive(Debug, Default)]
struct Tally {
    nll: f64,
    exact_nll: f64,
    rows: usize,
    chunks: Vec<Chunk>,
    divergences: Vec<f64>,
    same_top: usize,
}

impl Tally {
    /// Takes a chunk in; `false` where the exact path has ended and gives no more rows.
    fn chunk(
        &mut self,
        engine: &mut Engine,
        chunk: &[u32],
        exact: Option<&mpsc::Receiver<Vec<f32>>>,
    ) -> Result<bool> {
        let (before, rows_before) = (self.nll, self.rows);
        let mut missing = false;
        let wanted = |position| is_scored(position, chunk.len());
        let step = score::chunk(engine);
        engine.score_chunked(chunk, step, &wanted, &mut |position, logits| {
            let (row, next) = (Row::new(logits), chunk.get(position + 1));
            if let Some(next) = next {
                self.nll -= row.logprob(*next);
                self.rows += 1;
            }
            match exact.map(mpsc::Receiver::recv) {
                None => {}
                Some(Err(_)) => missing = true,
                Some(Ok(exact)) => self.compare(&Row::new(&exact), &row, next.copied()),
            }
        })?;
        let rows = (self.rows - rows_before) as f64;
        let ppl = (self.nll / self.rows as f64).exp();
        self.chunks.push(Chunk { nll: (self.nll - before) / rows, ppl });
        Ok(!missing)
    }

    fn compare(&mut self, exact: &Row<'_>, normal: &Row<'_>, next: Option<u32>) {
        self.exact_nll -= next.map_or(0.0, |next| exact.logprob(next));
        self.divergences.push(exact.divergence(normal));
        self.same_top += usize::from(exact.best() == normal.best());
    }

    fn report(mut self, compared: bool) -> Report {
        let rows = self.rows as f64;
        let compared_rows = self.divergences.len() as f64;
        self.divergences.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let last = self.divergences.len().saturating_sub(1);
            self.divergences.get((share * last as f64).round() as usize).copied().unwrap_or(0.0)
        };
        let kl = compared.then(|| Comparison {
            exact_ppl: (self.exact_nll / rows).exp(),
            rows: self.divergences.len(),
            mean: self.divergences.iter().sum::<f64>() / compared_rows,
            median: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
            same_top: self.same_top as f64 / compared_rows,
        });
        Report { ppl: (self.nll / rows).exp(), tokens: self.rows, chunks: self.chunks, kl }
    }
}

fn text_of(report: &Report) -> String {
    let mut text = String::from("chunk  loss (nats a token)  perplexity so far\n");
    for (index, chunk) in report.chunks.iter().enumerate() {
        text += &format!("{:>5}  {:>19.4}  {:>17.4}\n", index + 1, chunk.nll, chunk.ppl);
    }
    text += &format!("perplexity {:.4} over {} tokens\n", report.ppl, report.tokens);
    if let Some(kl) = &report.kl {
        text += &format!(
            "perplexity of the exact path {:.4}\nKL divergence from the exact path, nats a \
             token: mean {:.6}  median {:.6}  90% {:.6}  99% {:.6}  99.9% {:.6}  max {:.6}\n\
             same most probable token: {:.2}% of places\n",
            kl.exact_ppl,
            kl.mean,
            kl.median,
            kl.p90,
            kl.p99,
            kl.p999,
            kl.max,
            kl.same_top * 100.0
        );
    }
    text
}
