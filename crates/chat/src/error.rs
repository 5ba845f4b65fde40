//! Everything that can go wrong between messages and a prompt.

/// An error of a template, of the messages given to it, or of a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The template's source is longer than [`crate::Limits::source_bytes`].
    #[error("the chat template has {bytes} bytes; at most {limit} are read")]
    SourceTooLong {
        /// Length found.
        bytes: usize,
        /// Length allowed.
        limit: usize,
    },
    /// The template is not Jinja that this engine knows.
    #[error(
        "the chat template does not parse at line {line}: {message}; \
         give another one, or send the prompt without a template"
    )]
    Syntax {
        /// Line of the template, from 1.
        line: usize,
        /// What the parser met.
        message: String,
    },
    /// Statements, brackets and operators of the template stand deeper in each other than
    /// [`crate::Limits::syntax_depth`].
    #[error(
        "the chat template nests or chains {found} levels at line {line}; at most {limit} are read"
    )]
    SyntaxTooDeep {
        /// Line of the template, from 1.
        line: usize,
        /// Levels found so far.
        found: usize,
        /// Levels allowed.
        limit: usize,
    },
    /// The template called `raise_exception`.
    #[error("the chat template refuses these messages: {message}")]
    Raised {
        /// The template's own words.
        message: String,
    },
    /// An expression of the template failed.
    #[error("the chat template fails at line {line}: {message}")]
    Render {
        /// Line of the template, from 1.
        line: usize,
        /// What failed.
        message: String,
    },
    /// The render used up its fuel.
    #[error("the chat template did more than {fuel} steps of work; it may loop without end")]
    OutOfFuel {
        /// Steps allowed.
        fuel: u64,
    },
    /// Macros, blocks or values are nested too deeply.
    #[error("the chat template or the messages nest deeper than {limit}")]
    TooDeep {
        /// Depth allowed.
        limit: usize,
    },
    /// The prompt is longer than [`crate::Limits::output_bytes`].
    #[error("the chat template wrote more than {limit} bytes")]
    OutputTooLong {
        /// Length allowed.
        limit: usize,
    },
    /// The deadline of [`crate::Limits::expired`] has passed.
    #[error("the chat template did not finish in time")]
    Expired,
    /// A message is not shaped as a chat message.
    #[error("message {index}: expected {expected}, found {found}")]
    Message {
        /// Position in the list, from 0.
        index: usize,
        /// What a message holds there.
        expected: &'static str,
        /// What this one holds.
        found: String,
    },
    /// A template argument bears the name of something the template is always given.
    #[error("the template argument `{name}` is reserved; rename or remove it")]
    ReservedArgument {
        /// The argument.
        name: String,
    },
    /// The messages use every private-use character, so that none is left to mark text with.
    #[error("the messages use every private-use character of Unicode; remove some")]
    NoFreeCharacters,
    /// The prompt holds control tokens, and which of them are the user's cannot be told.
    #[error(
        "the messages hold control tokens of the model or parts of them, and the chat template \
         rewrites them so that they cannot be told from its own; remove them from the messages"
    )]
    Ambiguous,
}
