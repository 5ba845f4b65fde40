//! The limits on grammars, in one place.

use std::time::Duration;

/// Bytes of a grammar's source.
pub const BYTES_MAX: usize = 256 * 1024;
/// Nesting of brackets: of JSON values in a schema, of groups in an expression.
pub const DEPTH_MAX: usize = 64;
/// Rules and terminals of a Lark grammar, or objects in a JSON schema.
pub const RULES_MAX: usize = 10_000;
/// Repetitions one construct may ask for, nested ones multiplied; they are counters, not copies.
pub const REPEAT_MAX: u64 = 100_000;
/// Operators and character classes of all expressions of a grammar, the terminals of a Lark grammar
/// written out; a counted repetition is 16. An expression's cost grows with the square of these.
pub const OPERATORS_MAX: usize = 8_192;
/// Time to compile a grammar.
pub const COMPILE_TIME_MAX: Duration = Duration::from_millis(500);
/// Compilations of one vocabulary in progress, those included that ran out of time.
pub const COMPILING_MAX: usize = 4;
/// Bytes of a compiler's reason that an error carries.
pub(crate) const REASON_BYTES_MAX: usize = 400;
/// Stack of the compiler's thread; its recursion is bounded by depth and rules.
pub(crate) const STACK_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of one token; the trie's format ends there. Longer tokens are never allowed.
pub(crate) const TOKEN_BYTES_MAX: usize = 1000;
/// Bytes of all tokens, which bound the nodes of the trie's format (2^22).
pub(crate) const VOCAB_BYTES_MAX: usize = 1 << 26;
/// Nodes of the trie.
pub(crate) const TRIE_NODES_MAX: usize = (1 << 22) - 1;
/// Tokens of a vocabulary that can be constrained.
pub(crate) const VOCAB_TOKENS_MAX: usize = 1 << 21;
