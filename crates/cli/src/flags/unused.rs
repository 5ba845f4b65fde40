//! Settings that have no effect beside others: each is named in a warning, for the answer is not
//! what their user had in mind.

use super::settings::{Settings, Source};
use super::{Flag, table};

/// What mirostat takes the place of.
static REPLACED: &[&Flag] = &[
    &table::TOP_K,
    &table::TOP_P,
    &table::MIN_P,
    &table::TYPICAL,
    &table::TOP_NSIGMA,
    &table::XTC_PROBABILITY,
    &table::XTC_THRESHOLD,
    &table::REPEAT_LAST_N,
    &table::REPEAT_PENALTY,
    &table::PRESENCE_PENALTY,
    &table::FREQUENCY_PENALTY,
    &table::DRY_MULTIPLIER,
    &table::DRY_BASE,
    &table::DRY_ALLOWED_LENGTH,
    &table::DRY_PENALTY_LAST_N,
    &table::DRY_SEQUENCE_BREAKER,
];

/// What matters only to a token that is drawn.
static DRAWN: &[&Flag] =
    &[&table::DYNATEMP_RANGE, &table::DYNATEMP_EXP, &table::MIROSTAT, TUNED[0], TUNED[1]];
/// What matters only to mirostat.
static TUNED: &[&Flag] = &[&table::MIROSTAT_ENT, &table::MIROSTAT_LR];
/// What leaves the most probable token where it is.
static NARROWING: &[&Flag] = &[&table::TOP_K, &table::TOP_P, &table::MIN_P, &table::TOP_NSIGMA];

/// Adds a warning to the settings for each group that is passed over.
pub fn warn(settings: &mut Settings) {
    let mirostat = settings.integer(&table::MIROSTAT);
    let greedy = settings.number(&table::TEMP) == 0.0;
    // The locally typical set and XTC may leave out the most probable token.
    let keeps_first =
        settings.is_default(&table::TYPICAL) && settings.number(&table::XTC_PROBABILITY) == 0.0;
    let first = "--temp 0 always takes the most probable token";
    let mut found = Vec::new();
    if mirostat > 0 {
        found.push((typed(settings, REPLACED), format!("--mirostat {mirostat} takes their place")));
    } else if greedy && keeps_first {
        found.push((typed(settings, NARROWING), first.to_owned()));
    }
    if greedy {
        found.push((typed(settings, DRAWN), first.to_owned()));
    } else if mirostat == 0 {
        found.push((typed(settings, TUNED), "--mirostat is off".to_owned()));
    }
    if !settings.on(&table::JSON) {
        found.push((typed(settings, &[&table::LOGPROBS]), "only --json shows them".to_owned()));
    }
    for (names, why) in found {
        if let Some((last, before)) = names.split_last() {
            let names = match before {
                [] => format!("{last} has"),
                several => format!("{} and {last} have", several.join(", ")),
            };
            settings.faults.push(format!("{names} no effect: {why}"));
        }
    }
}

/// Those of some rows that were given for this run; what stands in a file or in the environment is
/// there for others too.
fn typed(settings: &Settings, flags: &[&'static Flag]) -> Vec<String> {
    let given = |flag: &&&'static Flag| settings.source(flag) == Some(&Source::CommandLine);
    let on = |flag: &&&'static Flag| !settings.is_default(flag);
    flags.iter().filter(given).filter(on).map(|flag| format!("--{}", flag.name)).collect()
}
