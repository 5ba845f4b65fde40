//! The one error type of the crate. Every variant carries the values its message names.

/// What sampling or constrained decoding can fail with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A sampler parameter is NaN or out of its range.
    #[error("sampler parameter {name} is {value}; expected {expected}")]
    Parameter {
        /// The field of [`crate::Params`].
        name: &'static str,
        /// What was given.
        value: f64,
        /// The accepted range, in words.
        expected: &'static str,
    },
    /// A list among the parameters is longer than its limit.
    #[error("{name} has {found} entries; at most {limit} are accepted")]
    TooMany {
        /// The list.
        name: &'static str,
        /// Entries given.
        found: usize,
        /// Entries accepted.
        limit: usize,
    },
    /// A token id is not in the vocabulary.
    #[error("token {token} in {place} is outside the vocabulary of {vocab_size} tokens")]
    UnknownToken {
        /// The id.
        token: u32,
        /// Size of the vocabulary.
        vocab_size: usize,
        /// Where the id stands.
        place: &'static str,
    },
    /// The vocabulary cannot be sampled from or constrained.
    #[error("the vocabulary is unusable: {reason}")]
    Vocabulary {
        /// What is wrong with it.
        reason: String,
    },
    /// Logits or a mask of another length than the vocabulary.
    #[error("{name} covers {found} tokens; the vocabulary has {expected}")]
    Length {
        /// "logits" or "mask".
        name: &'static str,
        /// Size of the vocabulary.
        expected: usize,
        /// Length given.
        found: usize,
    },
    /// A logit is NaN or infinite: the model's arithmetic failed, and no token may follow.
    #[error("numeric fault: logit {index} is {value}; no token is sampled from it")]
    NumericFault {
        /// Token id of the first such logit; 0 where only a device saw the row.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// The mask and the bans of the logit bias leave no token.
    #[error("no token of the {vocab_size} in the vocabulary is allowed at this position")]
    NothingAllowed {
        /// Size of the vocabulary.
        vocab_size: usize,
    },
    /// A grammar exceeds one of the limits in [`crate::grammar::limits`].
    #[error("the {kind} has {what} {found}; the limit is {limit}")]
    GrammarLimit {
        /// "JSON schema", "regular expression" or "Lark grammar".
        kind: &'static str,
        /// What is counted.
        what: &'static str,
        /// What was found (counting stops soon after the limit).
        found: u64,
        /// What is accepted.
        limit: u64,
    },
    /// A grammar was not compiled within the time limit.
    #[error("the {kind} was not compiled within {limit_ms} ms; simplify it")]
    GrammarTime {
        /// "JSON schema", "regular expression" or "Lark grammar".
        kind: &'static str,
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// Too many compilations that overran their time are still winding down.
    #[error("{running} grammars are still being compiled; try again later")]
    GrammarBusy {
        /// Compilations in progress.
        running: usize,
    },
    /// A grammar has a syntax error or asks for something that is not supported.
    #[error("the {kind} is not usable: {reason}")]
    GrammarInvalid {
        /// "JSON schema", "regular expression" or "Lark grammar".
        kind: &'static str,
        /// The compiler's reason, at most a few hundred bytes.
        reason: String,
    },
    /// A token that the grammar does not allow at this position was handed to it.
    #[error("token {token} is not allowed by the grammar at this position")]
    GrammarToken {
        /// The token.
        token: u32,
    },
    /// The grammar became too complex to follow at this position, or its parser failed.
    #[error("the grammar cannot be followed any further: {reason}")]
    GrammarStep {
        /// The parser's reason.
        reason: String,
    },
}
