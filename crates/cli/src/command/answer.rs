//! One generation from its prompt to its end, shared by `run` and `chat`.

use std::time::Duration;

use anyhow::{Result, anyhow};
use minfer_engine::scheduler::Refusal;
use minfer_engine::{Clock as _, Completion, Engine, Error, Event, FinishReason, Request};

use super::sampling;
use crate::clock::SystemClock;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::interrupt::Interruptible;
use crate::output;

/// A token with its probability and those of others.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Its id.
    pub id: u32,
    /// Its natural log-probability.
    pub logprob: Option<f32>,
    /// The most probable ids.
    pub top: Vec<(u32, f32)>,
}

/// A finished answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Text, ids, reason, times.
    pub completion: Completion,
    /// Every token.
    pub chosen: Vec<Chosen>,
    /// From the start of the process to the first token.
    pub first_token: Option<Duration>,
    /// Whether a grammar said what it has to look like.
    pub constrained: bool,
    /// The seed of its random numbers.
    pub seed: u64,
    /// Whether any were drawn.
    pub random: bool,
}

/// The request that the settings make of a prompt.
///
/// # Errors
/// Parameters or a grammar that are refused.
pub fn request(settings: &Settings, engine: &Engine, prompt: Vec<u32>) -> Result<Request> {
    let seconds = settings.number(&table::TIMEOUT);
    // An accelerator is asked for all logits only where they are to be seen.
    let fingerprint = settings.on(&table::JSON) || engine.devices().all(|device| !device.overlaps);
    Ok(Request {
        prompt,
        sampling: sampling::params(settings, engine.tokenizer())?,
        max_tokens: usize::try_from(settings.integer(&table::PREDICT)).ok(),
        stop: settings.list(&table::STOP).to_vec(),
        grammar: sampling::grammar(settings)?,
        ignore_eos: settings.on(&table::IGNORE_EOS),
        logprobs: settings.count(&table::LOGPROBS),
        fingerprint,
        deadline: (seconds > 0.0).then(|| Duration::from_secs_f64(seconds)),
        show_special: settings.on(&table::SHOW_SPECIAL),
    })
}

/// Runs a request; `write` gets its text as it comes. An interrupt ends it.
///
/// # Errors
/// The engine fails, the request fails on its way, or the text cannot be written.
pub fn generate(
    engine: &mut Engine,
    request: Request,
    write: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<Answer> {
    let constrained = request.grammar.is_some();
    let (seed, random) = (request.sampling.seed, request.sampling.temperature > 0.0);
    let id = engine.submit(request).map_err(refused)?;
    let _interruptible = Interruptible::new(engine.canceller(id));
    let mut chosen = Vec::new();
    let (mut text, mut first_token) = (String::new(), None);
    loop {
        for event in engine.step()? {
            match event {
                Event::Token { id, text: more, logprob, top, .. } => {
                    first_token.get_or_insert_with(|| SystemClock.now());
                    chosen.push(Chosen { id, logprob, top });
                    if !more.is_empty() {
                        text.push_str(&more);
                        write(&more)?;
                    }
                }
                Event::Finished { reason: FinishReason::Failed(reason), .. } => {
                    return Err(anyhow!(reason).context("the generation failed"));
                }
                Event::Finished { reason, stats, .. } => {
                    let tokens = chosen.iter().map(|chosen| chosen.id).collect();
                    let completion = Completion { text, tokens, reason, stats };
                    return Ok(Answer {
                        completion,
                        chosen,
                        first_token,
                        constrained,
                        seed,
                        random,
                    });
                }
            }
        }
    }
}

/// A prompt that does not fit, with the flag that makes room.
fn refused(error: Error) -> anyhow::Error {
    match error {
        Error::Refused(Refusal::Context { prompt, context }) => anyhow!(
            "the prompt has {prompt} tokens, the context {context} positions: shorten it, or make \
             room with -c {} or more",
            prompt + 1
        ),
        other => other.into(),
    }
}

/// Says what an answer's end leaves to do: where a grammar's text was cut, and where the context is
/// full.
pub fn remark(answer: &Answer, engine: &Engine) {
    let reason = &answer.completion.reason;
    if answer.constrained && *reason != FinishReason::Stop {
        let more = if *reason == FinishReason::Length { "; -n allows more tokens" } else { "" };
        output::note(&format!(
            "warning: the answer ended before its grammar did, so it may not be whole{more}"
        ));
    }
    if *reason == FinishReason::ContextFull {
        let (context, trained) = (engine.context(), engine.model().config().context);
        output::note(&if context < trained {
            format!(
                "hint: the context of {context} positions is full; -c makes it longer, up to the \
                 {trained} that the model was trained with"
            )
        } else {
            format!("hint: the context is full; -c {context} is all the model was trained for")
        });
    }
}
