//! Everything that can go wrong between a vocabulary in a file and the ids of a text.

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a vocabulary was refused, or a text could not be written in it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A metadata key is missing or of another type.
    #[error(transparent)]
    Metadata(#[from] minfer_gguf::Error),

    /// `tokenizer.ggml.model` names an algorithm that is not implemented.
    #[error(
        "tokenizer.ggml.model is `{found}`; this engine knows {known}. \
         Use a model file with one of those vocabularies"
    )]
    UnknownModel {
        /// The name in the file.
        found: String,
        /// The names that are implemented.
        known: String,
    },

    /// A byte-level vocabulary does not say how text is split into words.
    #[error(
        "tokenizer.ggml.pre is missing, so the rule that splits text into words is not known; \
         name it with --tokenizer-pre, one of {known}"
    )]
    MissingRule {
        /// The rules that are implemented.
        known: String,
    },

    /// The rule that splits text into words is not implemented.
    #[error(
        "the word-splitting rule `{found}` (tokenizer.ggml.pre) is not known; known are {known}. \
         If one of them splits alike, name it with --tokenizer-pre"
    )]
    UnknownRule {
        /// The name in the file, or the name given instead.
        found: String,
        /// The rules that are implemented.
        known: String,
    },

    /// A vocabulary has no tokens, or too many.
    #[error("tokenizer.ggml.tokens has {found} tokens; expected 1 to {limit}")]
    VocabularySize {
        /// Tokens in the file.
        found: usize,
        /// The most that are accepted.
        limit: usize,
    },

    /// Two arrays that describe the same tokens differ in length.
    #[error("{key} has {found} entries for {expected} tokens; the two must be equal")]
    ArrayLength {
        /// The key of the array.
        key: &'static str,
        /// Number of tokens.
        expected: usize,
        /// Number of entries.
        found: usize,
    },

    /// A token's text is longer than any real token.
    #[error("the text of token {id} has {found} bytes; at most {limit} are accepted")]
    TokenText {
        /// The token.
        id: usize,
        /// Its length in bytes.
        found: usize,
        /// The most that is accepted.
        limit: usize,
    },

    /// A token's type is none of those of the format.
    #[error("the type of token {id} is {found}; expected 0 to 6")]
    TokenType {
        /// The token.
        id: usize,
        /// The type in the file.
        found: i32,
    },

    /// A token of type *byte* does not spell a byte.
    #[error("token {id} has the type byte and the text `{found}`; expected `<0x00>` to `<0xFF>`")]
    ByteToken {
        /// The token.
        id: usize,
        /// Its text.
        found: String,
    },

    /// A token's score is not a number.
    #[error("the score of token {id} is not a number")]
    Score {
        /// The token.
        id: usize,
    },

    /// An id in the metadata is outside of the vocabulary.
    #[error("{key} is {found}; expected an id below the vocabulary's size, {size}")]
    TokenId {
        /// The key of the id.
        key: &'static str,
        /// The id in the file.
        found: u32,
        /// Number of tokens.
        size: usize,
    },

    /// A merge is not two texts with a space between.
    #[error("merge {index} is `{found}`; expected two token texts with a space between")]
    Merge {
        /// Place in `tokenizer.ggml.merges`.
        index: usize,
        /// What is there.
        found: String,
    },

    /// There are more merges than any real vocabulary has.
    #[error("tokenizer.ggml.merges has {found} merges; at most {limit} are accepted")]
    Merges {
        /// Merges in the file.
        found: usize,
        /// The most that are accepted.
        limit: usize,
    },

    /// A word-splitting rule's expression does not compile.
    #[error("the word-splitting rule does not compile: {reason}")]
    Splitter {
        /// The engine's own message.
        reason: String,
    },

    /// The special tokens' texts are far longer than those of any real vocabulary.
    #[error("the texts of the special tokens have {found} bytes; at most {limit} are accepted")]
    SpecialText {
        /// Bytes of all of them.
        found: usize,
        /// The most that are accepted.
        limit: usize,
    },

    /// The special tokens do not make a search automaton.
    #[error("the special tokens' texts cannot be searched for: {reason}")]
    SpecialTokens {
        /// The automaton's own message.
        reason: String,
    },

    /// The vocabulary has no token for a byte of the text, and none for the unknown.
    #[error("the vocabulary has no token for the byte {byte:#04x} of the text")]
    NoToken {
        /// The byte.
        byte: u8,
    },

    /// A text is too long to be tokenized at once.
    #[error("the text has {found} bytes; at most {limit} are tokenized at once")]
    TextLength {
        /// Length in bytes.
        found: usize,
        /// The most that is accepted.
        limit: usize,
    },
}
