//! A grammar being followed by one request.

use std::fmt;
use std::sync::Arc;

use llguidance::Matcher;

use super::compile::{compile, shorten};
use super::source::Grammar;
use super::vocab::Trie;
use crate::{Error, Mask};

/// The state of one generation under a grammar.
///
/// Before each token [`mask`](Constraint::mask) says what is allowed, after it
/// [`accept`](Constraint::accept) moves on. Work and memory of a step are bounded; a grammar that
/// exceeds the bounds at some position fails there, and stays failed.
pub struct Constraint {
    matcher: Matcher,
    mask: Mask,
    trie: Trie,
    /// Control tokens that the grammar must not derive.
    hidden: Arc<[u32]>,
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraint").field("stop_reason", &self.matcher.stop_reason()).finish()
    }
}

impl Constraint {
    /// Compiles `grammar` for the vocabulary of `trie`, within the limits.
    pub fn new(trie: &Trie, grammar: &Grammar) -> Result<Constraint, Error> {
        let matcher = compile(trie, grammar)?;
        let hidden = grammar.control_names().map_or_else(Arc::default, |names| {
            let special = trie.shared.special.iter().filter(|(_, name)| !names.contains(name));
            special.map(|&(token, _)| token).collect()
        });
        let mask = Mask::none(trie.vocab_size());
        Ok(Constraint { matcher, mask, trie: trie.clone(), hidden })
    }

    /// A copy at the same position that shares nothing with this one; cheaper than compiling.
    pub fn fork(&self) -> Constraint {
        Constraint {
            matcher: self.matcher.deep_clone(),
            mask: self.mask.clone(),
            trie: self.trie.clone(),
            hidden: self.hidden.clone(),
        }
    }

    /// The tokens allowed next, never none. Where the grammar may end, the end tokens are among
    /// them; where nothing else can follow, they are all.
    pub fn mask(&mut self) -> Result<&Mask, Error> {
        let allowed = self.matcher.compute_mask_or_eos().map_err(|e| step(&e.to_string()))?;
        self.mask.copy_words(allowed.as_slice());
        let complete = self.is_complete()?;
        for &token in self.hidden.iter().filter(|token| !self.trie.ends().contains(token)) {
            self.mask.forbid(token)?;
        }
        self.forbid_refused()?;
        if !complete {
            self.trie.ends().iter().try_for_each(|&token| self.mask.forbid(token))?;
        }
        if self.mask.count() == 0 {
            return Err(step("only control tokens that it may not use could follow"));
        }
        Ok(&self.mask)
    }

    /// Takes from the mask the control tokens that the parser would refuse: its masks take the end
    /// of an open lexeme for granted, which a complement may not have there.
    fn forbid_refused(&mut self) -> Result<(), Error> {
        let (special, ends) = (&self.trie.shared.special, self.trie.ends());
        let named = special.iter().map(|&(token, _)| token);
        for token in named.filter(|token| !ends.contains(token)) {
            if self.mask.allows(token)
                && self.matcher.validate_tokens(&[token]).map_err(|e| step(&e.to_string()))? == 0
            {
                self.mask.forbid(token)?;
            }
        }
        Ok(())
    }

    /// Moves on by the chosen token. A token that is not allowed is an error and changes nothing.
    pub fn accept(&mut self, token: u32) -> Result<(), Error> {
        let vocab_size = self.mask.vocab_size();
        if token as usize >= vocab_size {
            let place = "a constrained generation";
            return Err(Error::UnknownToken { token, vocab_size, place });
        }
        let allowed = if self.trie.ends().contains(&token) {
            self.is_complete()?
        } else if self.hidden.contains(&token) {
            false
        } else {
            self.matcher.validate_tokens(&[token]).map_err(|e| step(&e.to_string()))? == 1
        };
        match allowed {
            false => Err(Error::GrammarToken { token }),
            // A parser that has stopped takes no more tokens, the end included.
            true if self.is_finished() => Ok(()),
            true => self.matcher.consume_token(token).map_err(|e| step(&e.to_string())),
        }
    }

    /// Whether the text so far is whole, so that the generation may end here.
    pub fn is_complete(&mut self) -> Result<bool, Error> {
        if self.is_finished() {
            return Ok(true);
        }
        self.matcher.is_accepting().map_err(|e| step(&e.to_string()))
    }

    /// Whether the text is whole and nothing can follow it, or an end token was accepted.
    pub fn is_finished(&self) -> bool {
        self.matcher.is_stopped() && self.matcher.stop_reason().is_ok()
    }
}

fn step(reason: &str) -> Error {
    Error::GrammarStep { reason: shorten(reason) }
}
