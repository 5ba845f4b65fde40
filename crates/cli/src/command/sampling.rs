//! From settings to the sampler's parameters and the grammar.

use std::hash::{BuildHasher as _, RandomState};

use anyhow::{Context as _, Result};
use minfer_engine::{Grammar, Params};
use minfer_sample::{Dry, Mirostat, Penalties, Xtc};
use minfer_tokenizer::{Special, Tokenizer};

use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::{Flag, table};

/// The sampler's parameters.
///
/// # Errors
/// A logit bias that is not understood, or a breaker that the vocabulary cannot write.
pub fn params(settings: &Settings, tokenizer: &Tokenizer) -> Result<Params> {
    let number = |flag: &'static Flag| settings.number(flag) as f32;
    let integer = |flag: &'static Flag| settings.integer(flag) as i32;
    let (tau, eta) = (number(&table::MIROSTAT_ENT), number(&table::MIROSTAT_LR));
    let params = Params {
        seed: seed(settings),
        temperature: number(&table::TEMP),
        dynamic_range: number(&table::DYNATEMP_RANGE),
        dynamic_exponent: number(&table::DYNATEMP_EXP),
        top_k: settings.count(&table::TOP_K) as u32,
        top_p: number(&table::TOP_P),
        min_p: number(&table::MIN_P),
        typical_p: number(&table::TYPICAL),
        top_n_sigma: number(&table::TOP_NSIGMA),
        penalties: Penalties {
            last_n: integer(&table::REPEAT_LAST_N),
            repeat: number(&table::REPEAT_PENALTY),
            frequency: number(&table::FREQUENCY_PENALTY),
            presence: number(&table::PRESENCE_PENALTY),
        },
        dry: Dry {
            multiplier: number(&table::DRY_MULTIPLIER),
            base: number(&table::DRY_BASE),
            allowed_length: settings.count(&table::DRY_ALLOWED_LENGTH) as u32,
            last_n: integer(&table::DRY_PENALTY_LAST_N),
            breakers: breakers(settings, tokenizer)?,
        },
        xtc: Xtc {
            probability: number(&table::XTC_PROBABILITY),
            threshold: number(&table::XTC_THRESHOLD),
        },
        mirostat: match settings.integer(&table::MIROSTAT) {
            1 => Mirostat::V1 { tau, eta },
            2 => Mirostat::V2 { tau, eta },
            _off => Mirostat::Off,
        },
        logit_bias: settings
            .list(&table::LOGIT_BIAS)
            .iter()
            .map(|text| logit_bias(text))
            .collect::<Result<_>>()?,
    };
    params.validate().context("sampling")?;
    Ok(params)
}

/// The seed that is given, or another one each time: short enough to be typed again, and exact in
/// any reader of JSON.
pub fn seed(settings: &Settings) -> u64 {
    match u64::try_from(settings.integer(&table::SEED)) {
        Ok(seed) => seed,
        Err(_) => RandomState::new().hash_one(std::process::id()) >> 32,
    }
}

/// `15043+1`, `15043-1`, `15043-inf`.
fn logit_bias(text: &str) -> Result<(u32, f32)> {
    let bad = || {
        usage(format!("--logit-bias {text:?}: expected a token id and a number, such as 15043-1.5"))
    };
    let at = text.find(['+', '-']).ok_or_else(bad)?;
    let id = text[..at].trim().parse().map_err(|_| bad())?;
    let bias = text[at..].trim().parse().map_err(|_| bad())?;
    Ok((id, bias))
}

/// The token sequences that DRY does not reach over; only needed where DRY is on.
fn breakers(settings: &Settings, tokenizer: &Tokenizer) -> Result<Vec<Vec<u32>>> {
    if settings.number(&table::DRY_MULTIPLIER) == 0.0 {
        return Ok(Vec::new());
    }
    let given: Vec<&str> = match settings.list(&table::DRY_SEQUENCE_BREAKER) {
        [] => Dry::BREAKERS.to_vec(),
        [only] if only == "none" => Vec::new(),
        texts => texts.iter().map(String::as_str).collect(),
    };
    given.into_iter().map(|text| Ok(tokenizer.encode(text, Special::Plain)?)).collect()
}

/// The grammar; settings have at most one.
///
/// # Errors
/// A file cannot be read, or the grammar is refused.
pub fn grammar(settings: &Settings) -> Result<Option<Grammar>> {
    let sources = [
        &table::JSON_SCHEMA,
        &table::JSON_SCHEMA_FILE,
        &table::GRAMMAR,
        &table::GRAMMAR_FILE,
        &table::REGEX,
    ];
    let given = sources.into_iter().find(|flag| settings.text(flag).is_some());
    let Some(flag) = given else { return Ok(None) };
    let text = settings.text(flag).unwrap_or_default();
    let text = match flag.name {
        "json-schema-file" | "grammar-file" => super::prompt::read_file(text.as_ref())?,
        _other => text.to_owned(),
    };
    let grammar = match flag.name {
        "json-schema" | "json-schema-file" if text.trim() == "{}" => Ok(Grammar::json_object()),
        "json-schema" | "json-schema-file" => Grammar::json_schema(&text),
        "regex" => Grammar::regex(&text),
        _lark if text.contains("::=") => {
            let message = "grammars are written in Lark (`start: \"yes\" | \"no\"`); \
                           this one looks like GBNF";
            return Err(usage(format!("--{}: {message}", flag.name)));
        }
        _lark => Grammar::lark(&text),
    };
    grammar.map(Some).with_context(|| format!("--{}", flag.name))
}
