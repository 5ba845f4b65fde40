//! `minfer score`: log-probabilities of a text, and its most probable next tokens.

use anyhow::{Result, ensure};
use minfer_engine::Engine;
use minfer_sample::top_logprobs;
use serde::Serialize;

use super::logprob::Row;
use super::{load, prompt, tokenize, trace};
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// A token of the text.
#[derive(Debug, Serialize)]
struct Token {
    id: u32,
    /// `None` for the first token, which nothing comes before.
    logprob: Option<f64>,
}

/// A token that may come next.
#[derive(Debug, Serialize)]
struct Next {
    id: u32,
    piece: String,
    logit: f32,
    logprob: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    top: Vec<Next>,
    tokens: Vec<Token>,
}

/// The command.
///
/// # Errors
/// No model, no text, or one longer than the context.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let text = prompt::text(settings, "TEXT")?;
    let mut engine = load::engine(settings, style)?;
    let ids = tokenize::encode(settings, engine.tokenizer(), &text)?;
    ensure!(!ids.is_empty(), "expected a text of at least one token, found none");
    if let Some(folder) = settings.path(&table::TRACE) {
        trace::write(&mut engine, &ids, &folder)?;
    }
    let report = score(&mut engine, &ids, settings.count(&table::TOP), style)?;
    if settings.on(&table::JSON) {
        return output::json(&report);
    }
    output::print(&text_of(&engine, &report))
}

fn score(engine: &mut Engine, ids: &[u32], top: usize, style: Style) -> Result<Report> {
    let mut tokens = vec![Token { id: ids[0], logprob: None }];
    let (mut next, mut fault) = (Vec::new(), None);
    let tokenizer = engine.tokenizer().clone();
    let progress = style.steps("scoring", ids.len() as u64);
    engine.score_chunked(ids, chunk(engine), &|_| true, &mut |position, logits| {
        progress.at(position as u64);
        let row = Row::new(logits);
        if let Some(id) = ids.get(position + 1) {
            let logprob = Some(output::rounded(row.logprob(*id)));
            tokens.push(Token { id: *id, logprob });
            return;
        }
        match top_logprobs(logits, top) {
            Ok(best) => next.extend(best.into_iter().map(|(id, _)| Next {
                id,
                piece: super::piece(&tokenizer, id),
                logit: row.logit(id),
                logprob: output::rounded(row.logprob(id)),
            })),
            Err(error) => fault = Some(error),
        }
    })?;
    match fault {
        Some(error) => Err(error.into()),
        None => Ok(Report { top: next, tokens }),
    }
}

/// Tokens of one text in a step.
pub fn chunk(engine: &Engine) -> usize {
    let options = engine.options();
    options.chunk.unwrap_or(options.batch).min(options.batch)
}

fn text_of(engine: &Engine, report: &Report) -> String {
    let mut text = String::new();
    for token in &report.tokens {
        let logprob = token.logprob.map_or("-".into(), |logprob| format!("{logprob:.4}"));
        let piece = super::piece(engine.tokenizer(), token.id);
        text += &format!("{:>8}  {logprob:>9}  {piece:?}\n", token.id);
    }
    let known = report.tokens.iter().filter_map(|token| token.logprob);
    text += &format!("sum of log-probabilities: {:.4}\nnext:\n", known.sum::<f64>());
    for next in &report.top {
        text += &format!(
            "{:>8}  {:>9.4}  {:>6.2}%  {:?}\n",
            next.id,
            next.logprob,
            next.logprob.exp() * 100.0,
            next.piece
        );
    }
    text
}
