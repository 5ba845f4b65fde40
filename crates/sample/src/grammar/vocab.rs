//! The vocabulary as constrained decoding sees it, and the trie made of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use llguidance::ParserFactory;
use llguidance::toktrie::{ApproximateTokEnv, InferenceCapabilities, TokEnv, TokRxInfo, TokTrie};

use super::limits::{TOKEN_BYTES_MAX, TRIE_NODES_MAX, VOCAB_BYTES_MAX, VOCAB_TOKENS_MAX};
use crate::Error;

/// A vocabulary: what each token writes, and which tokens are control tokens.
#[derive(Clone, Debug, Default)]
pub struct Vocab {
    /// Bytes of each token: what it adds to the text, or a control token's name. Tokens that are
    /// empty or longer than 1,000 bytes are never allowed.
    pub bytes: Vec<Vec<u8>>,
    /// Whether each token is a control token, which no text of a grammar can produce.
    pub special: Vec<bool>,
    /// The tokens that end a generation, at least one; allowed wherever the grammar may end.
    pub eos: Vec<u32>,
}

/// The prefix tree of a vocabulary with all that compiled grammars share; cheap to clone. Made
/// once per vocabulary: it sorts all tokens.
#[derive(Clone)]
pub struct Trie {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub factory: ParserFactory,
    pub vocab_size: usize,
    /// Control tokens and their names.
    pub special: Vec<(u32, Vec<u8>)>,
    /// Compilations in progress.
    pub compiling: AtomicUsize,
}

impl fmt::Debug for Trie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trie").field("vocab_size", &self.shared.vocab_size).finish()
    }
}

impl Trie {
    /// Builds the trie. Fails when the lists differ in length, an end token does not exist, or the
    /// vocabulary is larger than the trie's format holds.
    pub fn new(vocab: Vocab) -> Result<Trie, Error> {
        check(&vocab)?;
        let vocab_size = vocab.bytes.len();
        let marked = vocab.special.iter().zip(&vocab.bytes).enumerate();
        let special = marked
            .filter(|(_, (special, _))| **special)
            .map(|(id, (_, name))| (id as u32, name.clone()))
            .collect();
        let words: Vec<Vec<u8>> =
            vocab.bytes.into_iter().zip(&vocab.special).map(|(b, &s)| word(b, s)).collect();
        check_nodes(&words)?;
        let info = TokRxInfo::new(vocab_size as u32, vocab.eos[0]);
        let trie = TokTrie::from(&info, &words).with_eos_tokens(&vocab.eos);
        // Not canonical: the model chooses its own split of what the grammar forces.
        let env: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let slices = llguidance::earley::SlicedBiasComputer::general_slices();
        let mut factory = ParserFactory::new(&env, InferenceCapabilities::default(), &slices)
            .map_err(|e| Error::Vocabulary { reason: e.to_string() })?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        let shared = Shared { factory, vocab_size, special, compiling: AtomicUsize::new(0) };
        Ok(Trie { shared: Arc::new(shared) })
    }

    /// The number of tokens.
    pub fn vocab_size(&self) -> usize {
        self.shared.vocab_size
    }

    /// The tokens that end a generation.
    pub(super) fn ends(&self) -> &[u32] {
        self.shared.factory.tok_env().tok_trie().eos_tokens()
    }
}

fn check(vocab: &Vocab) -> Result<(), Error> {
    let vocab_size = vocab.bytes.len();
    let fail = |reason: String| Err(Error::Vocabulary { reason });
    if vocab_size == 0 || vocab_size > VOCAB_TOKENS_MAX {
        return fail(format!("it has {vocab_size} tokens; expected 1 to {VOCAB_TOKENS_MAX}"));
    }
    if vocab.special.len() != vocab_size {
        let marks = vocab.special.len();
        return fail(format!("it has {vocab_size} tokens and {marks} marks of control tokens"));
    }
    if vocab.eos.is_empty() {
        return fail("it names no token that ends a generation".to_owned());
    }
    let place = "the tokens that end a generation";
    match vocab.eos.iter().find(|token| **token as usize >= vocab_size) {
        Some(&token) => Err(Error::UnknownToken { token, vocab_size, place }),
        None => Ok(()),
    }
}

/// What the trie stores for a token: control tokens stand behind a byte that no text contains.
fn word(bytes: Vec<u8>, special: bool) -> Vec<u8> {
    if bytes.len() > TOKEN_BYTES_MAX {
        return Vec::new();
    }
    if !special {
        return bytes;
    }
    let mut marked = vec![TokTrie::SPECIAL_TOKEN_MARKER];
    marked.extend(bytes);
    marked
}

/// The trie's nodes are the distinct prefixes of all words.
fn check_nodes(words: &[Vec<u8>]) -> Result<(), Error> {
    let bytes: usize = words.iter().map(Vec::len).sum();
    if bytes > VOCAB_BYTES_MAX {
        let reason = format!("its tokens have {bytes} bytes; at most {VOCAB_BYTES_MAX} fit");
        return Err(Error::Vocabulary { reason });
    }
    if bytes < TRIE_NODES_MAX {
        return Ok(());
    }
    let mut sorted: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    sorted.sort_unstable();
    let shared = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let common: usize = sorted.windows(2).map(|pair| shared(pair[0], pair[1])).sum();
    let nodes = bytes - common;
    if nodes >= TRIE_NODES_MAX {
        let reason = format!("its trie has {nodes} nodes; at most {TRIE_NODES_MAX} fit");
        return Err(Error::Vocabulary { reason });
    }
    Ok(())
}
