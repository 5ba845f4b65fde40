//! The chain: one request's stages, in their order, over buffers that are used again and again.

use crate::draw::draw;
use crate::params::{Mirostat, Params};
use crate::probability::{Raw, gather_top};
use crate::rng::Draw;
use crate::stage::{self, Candidate};
use crate::{Error, Mask};

/// A chosen token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The token's id.
    pub token: u32,
    /// Natural log-probability of the token in the raw distribution: the softmax of the logits as
    /// the model gave them, before mask, bias and stages.
    pub logprob: f32,
}

/// A sampler chain for one sequence.
///
/// After the first calls have sized its buffers a chain allocates nothing. The candidate order
/// never shows: stages are sets, ties go to the lower id.
#[derive(Clone, Debug)]
pub struct Chain {
    params: Params,
    vocab_size: usize,
    /// Number of the next draw.
    position: u64,
    /// Mirostat's bound, in bits.
    mu: f64,
    edited: Vec<f32>,
    candidates: Vec<Candidate>,
    sorted: Vec<u32>,
    dry: stage::dry::Scratch,
}

impl Chain {
    /// A chain over a vocabulary of `vocab_size` tokens. Fails on parameters out of their range.
    pub fn new(params: Params, vocab_size: usize) -> Result<Chain, Error> {
        params.validate()?;
        if vocab_size == 0 || u32::try_from(vocab_size).is_err() {
            let reason = format!("it has {vocab_size} tokens; expected 1 to 4294967295");
            return Err(Error::Vocabulary { reason });
        }
        let place = "logit_bias";
        let unknown = params.logit_bias.iter().find(|(token, _)| *token as usize >= vocab_size);
        if let Some(&(token, _)) = unknown {
            return Err(Error::UnknownToken { token, vocab_size, place });
        }
        let mu = match params.mirostat {
            Mirostat::Off => 0.0,
            Mirostat::V1 { tau, .. } | Mirostat::V2 { tau, .. } => 2.0 * f64::from(tau),
        };
        Ok(Chain {
            params,
            vocab_size,
            position: 0,
            mu,
            edited: Vec::new(),
            candidates: Vec::new(),
            sorted: Vec::new(),
            dry: stage::dry::Scratch::default(),
        })
    }

    /// Chooses the next token.
    ///
    /// `logits` has one value a token, all finite; `history` is prompt and output so far, oldest
    /// first; `mask` holds the tokens allowed, all without one. On success the draw is used up; on
    /// an error nothing has changed.
    pub fn sample(
        &mut self,
        logits: &[f32],
        history: &[u32],
        mask: Option<&Mask>,
    ) -> Result<Choice, Error> {
        let expected = self.vocab_size;
        if logits.len() != expected {
            return Err(Error::Length { name: "logits", expected, found: logits.len() });
        }
        if let Some(found) = mask.map(Mask::vocab_size).filter(|found| *found != expected) {
            return Err(Error::Length { name: "mask", expected, found });
        }
        let raw = Raw::of(logits)?;
        self.edit(logits, history)?;
        let k = self.gathered();
        let edited = if self.edits() { &self.edited } else { logits };
        gather(&mut self.candidates, edited, mask, k);
        let token = self.choose()?;
        Ok(Choice { token, logprob: raw.logprob(logits[token as usize]) })
    }

    /// How many of the largest logits decide the choice; `None` where it takes all of them, or the
    /// history.
    pub fn ranked(&self) -> Option<usize> {
        let bias = &self.params.logit_bias;
        let bans = bias.iter().all(|(_, bias)| *bias == f32::NEG_INFINITY);
        let (k, edits) = (self.gathered(), self.penalizes() || self.dries());
        (k > 0 && bans && !edits).then(|| (k + bias.len()).min(self.vocab_size))
    }

    /// Chooses the next token as [`Chain::sample`] does without a mask, of the largest logits: as
    /// many as [`Chain::ranked`] says or more, in falling order, the lower id first among equals.
    /// Ids of -1 stand for a row with a NaN. Logits that are not among these are not looked at.
    pub fn sample_ranked(&mut self, ids: &[i32], logits: &[f32]) -> Result<u32, Error> {
        let expected = self.ranked().unwrap_or(self.vocab_size);
        let found = ids.len().min(logits.len());
        if found < expected {
            return Err(Error::Length { name: "the list of the largest logits", expected, found });
        }
        self.candidates.clear();
        let k = self.gathered();
        for (&id, &value) in ids.iter().zip(logits) {
            let index = usize::try_from(id).unwrap_or_default();
            if id < 0 || !value.is_finite() {
                return Err(Error::NumericFault { index, value });
            }
            let banned = self.params.logit_bias.iter().any(|(token, _)| *token == id as u32);
            if !banned && self.candidates.len() < k {
                self.candidates.push(Candidate::new(id as u32, value));
            }
        }
        self.choose()
    }

    /// Narrows the candidates and draws one of them.
    fn choose(&mut self) -> Result<u32, Error> {
        if self.candidates.is_empty() {
            return Err(Error::NothingAllowed { vocab_size: self.vocab_size });
        }
        let random = Draw::new(self.params.seed, self.position);
        let token = match self.params.mirostat {
            Mirostat::Off => narrow_and_draw(&mut self.candidates, &self.params, random),
            Mirostat::V1 { tau, eta } | Mirostat::V2 { tau, eta } => {
                self.mirostat(tau.into(), eta.into(), random)
            }
        };
        self.position += 1;
        Ok(token)
    }

    /// The number of the next draw: how many tokens this chain has chosen.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Sets the number of the next draw, as after dropping tokens that were chosen in vain. The
    /// bound of mirostat, which depends on the tokens chosen, is not rolled back; keep a clone of
    /// the chain for that.
    pub fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// The parameters the chain was made with.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Whether the choice follows the largest logit alone, but for biases and masks: no draw, and
    /// nothing that depends on the history.
    pub fn is_greedy(&self) -> bool {
        self.gathered() == 1 && !self.penalizes() && !self.dries()
    }

    fn penalizes(&self) -> bool {
        let p = &self.params.penalties;
        self.params.mirostat == Mirostat::Off
            && p.last_n != 0
            && (p.repeat != 1.0 || p.frequency != 0.0 || p.presence != 0.0)
    }

    fn dries(&self) -> bool {
        let d = &self.params.dry;
        self.params.mirostat == Mirostat::Off
            && d.last_n != 0
            && d.multiplier != 0.0
            && d.base >= 1.0
    }

    fn edits(&self) -> bool {
        !self.params.logit_bias.is_empty() || self.penalizes() || self.dries()
    }

    /// The stages that act by token id, into `edited`; nothing when none of them is on.
    fn edit(&mut self, logits: &[f32], history: &[u32]) -> Result<(), Error> {
        if !self.edits() {
            return Ok(());
        }
        let (penalizes, dries) = (self.penalizes(), self.dries());
        let Params { penalties, dry, logit_bias, .. } = &self.params;
        self.edited.clear();
        self.edited.extend_from_slice(logits);
        stage::logit_bias::logit_bias(&mut self.edited, logit_bias);
        if penalizes {
            let window = last(history, penalties.last_n);
            stage::penalties::penalties(&mut self.edited, window, penalties, &mut self.sorted);
        }
        if dries {
            let window = last(history, dry.last_n);
            stage::dry::dry(&mut self.edited, window, dry, &mut self.dry);
        }
        // Bans are negative infinity; anything else that is not finite is an overflow.
        let overflow = |v: &f32| v.is_nan() || *v == f32::INFINITY;
        match self.edited.iter().position(overflow) {
            Some(index) => Err(Error::NumericFault { index, value: self.edited[index] }),
            None => Ok(()),
        }
    }

    /// How many first-ranked candidates the stages need; zero for all.
    fn gathered(&self) -> usize {
        let p = &self.params;
        let keeps_first = p.typical_p >= 1.0 && p.xtc.probability <= 0.0;
        if p.temperature <= 0.0 && (p.mirostat != Mirostat::Off || keeps_first) {
            return 1;
        }
        let selects = p.mirostat == Mirostat::Off && p.top_n_sigma <= 0.0;
        if selects && (p.top_k as usize) < self.vocab_size { p.top_k as usize } else { 0 }
    }

    fn mirostat(&mut self, tau: f64, eta: f64, random: Draw) -> u32 {
        let candidates = &mut self.candidates[..];
        let kept = scale(candidates, &self.params);
        let kept = match self.params.mirostat {
            Mirostat::Off => kept,
            Mirostat::V1 { .. } => {
                stage::mirostat::mirostat_1(&mut candidates[..kept], self.mu, self.vocab_size)
            }
            Mirostat::V2 { .. } => stage::mirostat::mirostat_2(&mut candidates[..kept], self.mu),
        };
        let (index, p) = draw(&mut candidates[..kept], random.token());
        self.mu = stage::mirostat::update(self.mu, p, tau, eta);
        candidates[index].token
    }
}

/// The last `n` tokens of the history; all of them when `n` is negative.
fn last(history: &[u32], n: i32) -> &[u32] {
    let n = usize::try_from(n).unwrap_or(history.len());
    &history[history.len().saturating_sub(n)..]
}

/// Fills `candidates` with the allowed tokens that are not banned: the first `k` by rank, or all
/// when `k` is zero.
fn gather(candidates: &mut Vec<Candidate>, logits: &[f32], mask: Option<&Mask>, k: usize) {
    let all = (0u32..).zip(logits.iter().copied());
    match (mask, k) {
        (None, 0) => collect(candidates, all),
        (None, _) => gather_top(candidates, all, k),
        (Some(mask), 0) => collect(candidates, masked(mask, logits)),
        (Some(mask), _) => gather_top(candidates, masked(mask, logits), k),
    }
}

fn masked<'a>(mask: &'a Mask, logits: &'a [f32]) -> impl Iterator<Item = (u32, f32)> + 'a {
    mask.tokens().zip(std::iter::repeat(logits)).map(|(token, l)| (token, l[token as usize]))
}

fn collect(candidates: &mut Vec<Candidate>, logits: impl Iterator<Item = (u32, f32)>) {
    candidates.clear();
    let allowed = logits.filter(|(_, logit)| *logit != f32::NEG_INFINITY);
    candidates.extend(allowed.map(|(token, logit)| Candidate::new(token, logit)));
}

/// The narrowing stages in their order, the temperature and the draw.
fn narrow_and_draw(candidates: &mut [Candidate], params: &Params, random: Draw) -> u32 {
    let mut n = candidates.len();
    n = stage::top_n_sigma::top_n_sigma(&mut candidates[..n], params.top_n_sigma);
    n = stage::top_k::top_k(&mut candidates[..n], params.top_k as usize);
    n = stage::typical::typical(&mut candidates[..n], params.typical_p);
    n = stage::top_p::top_p(&mut candidates[..n], params.top_p);
    n = stage::min_p::min_p(&mut candidates[..n], params.min_p);
    n = stage::xtc::xtc(&mut candidates[..n], &params.xtc, random.xtc());
    n = scale(&mut candidates[..n], params);
    let (index, _) = draw(&mut candidates[..n], random.token());
    candidates[index].token
}

fn scale(candidates: &mut [Candidate], params: &Params) -> usize {
    stage::temperature::dynamic_temperature(
        candidates,
        params.temperature.into(),
        params.dynamic_range.into(),
        params.dynamic_exponent.into(),
    )
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
