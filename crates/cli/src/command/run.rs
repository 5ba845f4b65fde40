//! `minfer run`: one answer.

use anyhow::Result;
use minfer_engine::{Engine, FinishReason};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::answer::{self, Answer};
use super::{load, prompt, report};
use crate::failure::Interrupted;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// The answer as JSON.
#[derive(Serialize)]
struct Report {
    text: String,
    tokens: Vec<u32>,
    prompt_tokens: Vec<u32>,
    finish_reason: &'static str,
    seed: u64,
    timings: report::Timings,
    #[serde(skip_serializing_if = "Option::is_none")]
    logits_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<Vec<Value>>,
}

/// The command.
///
/// # Errors
/// No model, no prompt, or a generation that fails.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    // What is wrong with the command line is said before a model is loaded.
    super::sampling::grammar(settings)?;
    let mut engine = load::engine(settings, style)?;
    let rendered = prompt::of_run(settings, &engine)?;
    if settings.on(&table::RENDER) {
        return output::print(&rendered.text());
    }
    let ids = prompt::encode(&mut engine, &rendered)?;
    if let Some(folder) = settings.path(&table::TRACE) {
        super::trace::write(&mut engine, &ids, &folder)?;
    }
    let request = answer::request(settings, &engine, ids.clone())?;
    let json = settings.on(&table::JSON);
    let traffic = report::Traffic::of(&engine);
    let answer = if json {
        let answer = answer::generate(&mut engine, request, &mut |_| Ok(()))?;
        output::json(&report(&engine, settings, ids, &answer, traffic))?;
        answer
    } else {
        let answer = answer::generate(&mut engine, request, &mut output::print)?;
        let text = &answer.completion.text;
        if !text.is_empty() && !text.ends_with('\n') {
            output::print("\n")?;
        }
        answer
    };
    answer::remark(&answer, &engine);
    if settings.on(&table::TIMINGS) && !json {
        output::note(&style.dim(&report::closing_line(&answer, traffic)));
    }
    if settings.on(&table::PROFILE) {
        output::note(&report::profile(&engine));
    }
    // What was written stays; a script is told that it is not the whole answer.
    match answer.completion.reason {
        FinishReason::Cancelled => Err(Interrupted.into()),
        FinishReason::Stop
        | FinishReason::Length
        | FinishReason::ContextFull
        | FinishReason::Deadline
        | FinishReason::Failed(_) => Ok(()),
    }
}

fn report(
    engine: &Engine,
    settings: &Settings,
    prompt_tokens: Vec<u32>,
    answer: &Answer,
    traffic: report::Traffic,
) -> Report {
    let completion = &answer.completion;
    let wanted = settings.count(&table::LOGPROBS) > 0;
    Report {
        text: completion.text.clone(),
        tokens: completion.tokens.clone(),
        prompt_tokens,
        finish_reason: completion.reason.name(),
        seed: answer.seed,
        timings: report::timings(answer, traffic),
        logits_hash: completion.stats.logits_hash.map(report::hash),
        logprobs: wanted.then(|| logprobs(engine, answer)),
    }
}

fn logprobs(engine: &Engine, answer: &Answer) -> Vec<Value> {
    let entry = |id: u32, logprob: Option<f32>| {
        let mut entry = Map::new();
        entry.insert("id".into(), id.into());
        entry.insert("piece".into(), super::piece(engine.tokenizer(), id).into());
        entry.insert(
            "logprob".into(),
            logprob.map(|logprob| output::rounded(logprob.into())).into(),
        );
        entry
    };
    let rows = answer.chosen.iter().map(|chosen| {
        let top: Vec<_> =
            chosen.top.iter().map(|(id, logprob)| entry(*id, Some(*logprob))).collect();
        let mut row = entry(chosen.id, chosen.logprob);
        row.insert("top".into(), json!(top));
        Value::Object(row)
    });
    rows.collect()
}
