//! The parameters of the chain, their defaults (llama.cpp's) and their ranges.

use crate::Error;

/// Most entries accepted in the logit bias.
pub const LOGIT_BIAS_MAX: usize = 1024;
/// Most sequence breakers, and most tokens in one.
const BREAKERS_MAX: usize = 1024;
const BREAKER_TOKENS_MAX: usize = 64;

/// Settings of one sampler chain. A field's default turns its stage off unless stated.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Seed of the random numbers; default 0.
    pub seed: u64,
    /// Temperature; default 0.8; zero or less is greedy.
    pub temperature: f32,
    /// Half the width of the dynamic temperature's interval; default 0 (plain temperature).
    pub dynamic_range: f32,
    /// Exponent of the dynamic temperature; default 1.
    pub dynamic_exponent: f32,
    /// Tokens that top-k keeps; default 40; 0 is off.
    pub top_k: u32,
    /// Mass that top-p keeps; default 0.95; 1 is off.
    pub top_p: f32,
    /// Share of the largest probability that min-p asks for; default 0.05; 0 is off.
    pub min_p: f32,
    /// Mass of the typical set; default 1, off.
    pub typical_p: f32,
    /// Standard deviations of top-n-sigma; default -1; zero or less is off.
    pub top_n_sigma: f32,
    /// Repetition, frequency and presence penalties.
    pub penalties: Penalties,
    /// The DRY penalty.
    pub dry: Dry,
    /// Exclusion of top choices.
    pub xtc: Xtc,
    /// Mirostat. With it the chain is logit bias, temperature, mirostat; the rest is passed over.
    pub mirostat: Mirostat,
    /// (token, bias) pairs; negative infinity bans the token.
    pub logit_bias: Vec<(u32, f32)>,
}

/// Settings of [`crate::stage::penalties`].
#[derive(Clone, Debug, PartialEq)]
pub struct Penalties {
    /// Tokens of the history looked at; default 64; 0 is off, -1 is the whole history.
    pub last_n: i32,
    /// Divides a logit above zero, multiplies another; default 1.
    pub repeat: f32,
    /// Subtracted once per occurrence; default 0.
    pub frequency: f32,
    /// Subtracted once; default 0.
    pub presence: f32,
}

/// Settings of [`crate::stage::dry`].
#[derive(Clone, Debug, PartialEq)]
pub struct Dry {
    /// Size of the penalty; default 0, off.
    pub multiplier: f32,
    /// Growth per repeated token; default 1.75; below 1 is off.
    pub base: f32,
    /// Repetitions shorter than this are free; default 2.
    pub allowed_length: u32,
    /// Tokens of the history looked at; default -1, the whole history; 0 is off.
    pub last_n: i32,
    /// Token sequences no repetition reaches over; default none here. The texts behind llama.cpp's
    /// default are [`Dry::BREAKERS`]; whoever owns the tokenizer turns them into ids.
    pub breakers: Vec<Vec<u32>>,
}

impl Dry {
    /// The default sequence breakers, as text.
    pub const BREAKERS: [&'static str; 4] = ["\n", ":", "\"", "*"];
}

/// Settings of [`crate::stage::xtc`].
#[derive(Clone, Debug, PartialEq)]
pub struct Xtc {
    /// Chance that the stage acts on a token; default 0, off.
    pub probability: f32,
    /// Probability from which a token is a top choice; default 0.1; above 0.5 is off.
    pub threshold: f32,
}

/// Settings of [`crate::stage::mirostat`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mirostat {
    /// Not used; the default.
    Off,
    /// Version 1, with the exponent's estimate.
    V1 {
        /// Target surprise in bits; llama.cpp's default is 5.
        tau: f32,
        /// Learning rate; llama.cpp's default is 0.1.
        eta: f32,
    },
    /// Version 2.
    V2 {
        /// Target surprise in bits; llama.cpp's default is 5.
        tau: f32,
        /// Learning rate; llama.cpp's default is 0.1.
        eta: f32,
    },
}

impl Mirostat {
    /// llama.cpp's default target surprise, in bits.
    pub const TAU: f32 = 5.0;
    /// llama.cpp's default learning rate.
    pub const ETA: f32 = 0.1;
}

impl Default for Params {
    fn default() -> Params {
        Params {
            seed: 0,
            temperature: 0.8,
            dynamic_range: 0.0,
            dynamic_exponent: 1.0,
            top_k: 40,
            top_p: 0.95,
            min_p: 0.05,
            typical_p: 1.0,
            top_n_sigma: -1.0,
            penalties: Penalties { last_n: 64, repeat: 1.0, frequency: 0.0, presence: 0.0 },
            dry: Dry {
                multiplier: 0.0,
                base: 1.75,
                allowed_length: 2,
                last_n: -1,
                breakers: Vec::new(),
            },
            xtc: Xtc { probability: 0.0, threshold: 0.1 },
            mirostat: Mirostat::Off,
            logit_bias: Vec::new(),
        }
    }
}

impl Params {
    /// The defaults with temperature 0: always the most probable token.
    pub fn greedy() -> Params {
        Params { temperature: 0.0, ..Params::default() }
    }

    /// Checks every field's range; NaN is in none.
    pub fn validate(&self) -> Result<(), Error> {
        let finite = (f32::MIN, f32::MAX, "a finite number");
        let positive = (f32::MIN_POSITIVE, f32::MAX, "a finite number above 0");
        let not_negative = (0.0, f32::MAX, "a finite number, 0 or more");
        let share = (0.0, 1.0, "a number from 0 to 1");
        let last_n = (-1.0, f32::MAX, "-1 (the whole history), 0 (off) or a number of tokens");
        let (tau, eta) = match self.mirostat {
            Mirostat::Off => (Mirostat::TAU, Mirostat::ETA),
            Mirostat::V1 { tau, eta } | Mirostat::V2 { tau, eta } => (tau, eta),
        };
        let rows = [
            ("temperature", self.temperature, finite),
            ("dynamic_range", self.dynamic_range, not_negative),
            ("dynamic_exponent", self.dynamic_exponent, not_negative),
            ("top_p", self.top_p, share),
            ("min_p", self.min_p, share),
            ("typical_p", self.typical_p, share),
            ("top_n_sigma", self.top_n_sigma, finite),
            ("penalties.last_n", self.penalties.last_n as f32, last_n),
            ("penalties.repeat", self.penalties.repeat, positive),
            ("penalties.frequency", self.penalties.frequency, finite),
            ("penalties.presence", self.penalties.presence, finite),
            ("dry.multiplier", self.dry.multiplier, not_negative),
            ("dry.base", self.dry.base, not_negative),
            ("dry.last_n", self.dry.last_n as f32, last_n),
            ("xtc.probability", self.xtc.probability, share),
            ("xtc.threshold", self.xtc.threshold, share),
            ("mirostat.tau", tau, not_negative),
            ("mirostat.eta", eta, not_negative),
        ];
        for (name, value, (low, high, expected)) in rows {
            if !(low..=high).contains(&value) {
                return Err(Error::Parameter { name, value: value.into(), expected });
            }
        }
        self.validate_lists()
    }

    fn validate_lists(&self) -> Result<(), Error> {
        let longest = self.dry.breakers.iter().map(Vec::len).max().unwrap_or(0);
        let lists = [
            ("logit_bias", self.logit_bias.len(), LOGIT_BIAS_MAX),
            ("dry.breakers", self.dry.breakers.len(), BREAKERS_MAX),
            ("a sequence of dry.breakers", longest, BREAKER_TOKENS_MAX),
        ];
        if let Some(&(name, found, limit)) = lists.iter().find(|(_, n, limit)| n > limit) {
            return Err(Error::TooMany { name, found, limit });
        }
        let bad = self.logit_bias.iter().find(|(_, v)| v.is_nan() || *v == f32::INFINITY);
        bad.map_or(Ok(()), |&(_, value)| {
            let expected = "a finite number, or negative infinity to ban the token";
            Err(Error::Parameter { name: "logit_bias", value: value.into(), expected })
        })
    }
}
