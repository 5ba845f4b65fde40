//! How tokens are chosen: llama.cpp's names, order and defaults.

use super::{WRITE, flags};
use crate::flags::value::ABOVE_ZERO;
use crate::flags::{Flag, Kind, Theme, Verb};

const SAMPLING: (Theme, &[Verb]) = (Theme::Sampling, WRITE);
/// Any finite number that single precision holds.
const ANY: Kind = Kind::Number(f32::MIN as f64, f32::MAX as f64);
const FROM_ZERO: Kind = Kind::Number(0.0, f32::MAX as f64);
const POSITIVE: Kind = Kind::Number(ABOVE_ZERO, f32::MAX as f64);
const SHARE: Kind = Kind::Number(0.0, 1.0);
const TOKENS: Kind = Kind::Integer(0, i32::MAX as i64);
const LAST_N: Kind = Kind::Integer(-1, i32::MAX as i64);

flags! { SAMPLING_ROWS:
    SEED = Flag::new("seed", (Theme::Sampling, SEEDED), Kind::Integer(-1, i64::MAX), "-1",
        "Seed of the random numbers; -1 for a new one each time").short('s');
    TEMP = Flag::new("temp", SAMPLING, FROM_ZERO, "0.8",
        "Temperature; 0 always takes the most probable token").alias(&["temperature"]);
    TOP_K = Flag::new("top-k", SAMPLING, TOKENS, "40",
        "Keep the k most probable tokens; 0 is off").llama_env("LLAMA_ARG_TOP_K");
    TOP_P = Flag::new("top-p", SAMPLING, SHARE, "0.95",
        "Keep the most probable tokens up to this mass; 1 is off");
    MIN_P = Flag::new("min-p", SAMPLING, SHARE, "0.05",
        "Keep tokens with this share of the largest probability; 0 is off");
    TYPICAL = Flag::new("typical", SAMPLING, SHARE, "1",
        "Mass of the locally typical set; 1 is off").alias(&["typical-p"]);
    TOP_NSIGMA = Flag::new("top-nsigma", SAMPLING, ANY, "-1",
        "Keep logits within so many standard deviations of the largest; 0 or less is off")
        .alias(&["top-n-sigma"]);
    XTC_PROBABILITY = Flag::new("xtc-probability", SAMPLING, SHARE, "0",
        "Chance that top choices are excluded; 0 is off");
    XTC_THRESHOLD = Flag::new("xtc-threshold", SAMPLING, SHARE, "0.1",
        "Probability from which a token is a top choice; above 0.5 is off");
    REPEAT_LAST_N = Flag::new("repeat-last-n", SAMPLING, LAST_N, "64",
        "Tokens that penalties look back at; 0 is off, -1 is all");
    REPEAT_PENALTY = Flag::new("repeat-penalty", SAMPLING, POSITIVE, "1",
        "Penalty of repeated tokens; 1 is off");
    PRESENCE_PENALTY = Flag::new("presence-penalty", SAMPLING, ANY, "0",
        "Penalty of tokens that occurred; 0 is off");
    FREQUENCY_PENALTY = Flag::new("frequency-penalty", SAMPLING, ANY, "0",
        "Penalty per occurrence; 0 is off");
    DRY_MULTIPLIER = Flag::new("dry-multiplier", SAMPLING, FROM_ZERO, "0",
        "Size of the DRY penalty of repeated sequences; 0 is off");
    DRY_BASE = Flag::new("dry-base", SAMPLING, FROM_ZERO, "1.75",
        "Growth of the DRY penalty per repeated token");
    DRY_ALLOWED_LENGTH = Flag::new("dry-allowed-length", SAMPLING, TOKENS, "2",
        "Repetitions shorter than this are free");
    DRY_PENALTY_LAST_N = Flag::new("dry-penalty-last-n", SAMPLING, LAST_N, "-1",
        "Tokens that DRY looks back at; 0 is off, -1 is all");
    DRY_SEQUENCE_BREAKER = Flag::new("dry-sequence-breaker", SAMPLING, Kind::List("TEXT"), "",
        "Text that no repetition reaches over; repeatable; none for none")
        .more("Where it is not given: newline, colon, quotation mark and star.");
    DYNATEMP_RANGE = Flag::new("dynatemp-range", SAMPLING, FROM_ZERO, "0",
        "Half the width of the dynamic temperature's interval; 0 is off");
    DYNATEMP_EXP = Flag::new("dynatemp-exp", SAMPLING, FROM_ZERO, "1",
        "Exponent of the dynamic temperature");
    MIROSTAT = Flag::new("mirostat", SAMPLING, Kind::Integer(0, 2), "0",
        "Mirostat version 1 or 2 in place of the other samplers; 0 is off");
    MIROSTAT_ENT = Flag::new("mirostat-ent", SAMPLING, FROM_ZERO, "5",
        "Mirostat's target surprise, in bits");
    MIROSTAT_LR = Flag::new("mirostat-lr", SAMPLING, FROM_ZERO, "0.1",
        "Mirostat's learning rate");
    LOGIT_BIAS = Flag::new("logit-bias", SAMPLING, Kind::List("ID(+|-)X"), "",
        "Add to a token's logit: 15043+1, 15043-1; 15043-inf bans it; repeatable").short('l');
}

const SEEDED: &[Verb] = &[Verb::Run, Verb::Chat, Verb::Synth];
