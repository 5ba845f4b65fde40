//! The set of tokens allowed at one position.

use crate::Error;

/// A set of token ids over a vocabulary, one bit a token in `u32` words (token t is bit t % 32 of
/// word t / 32). Bits past the vocabulary are zero, always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    words: Vec<u32>,
    len: usize,
}

impl Mask {
    /// The empty set over `vocab_size` tokens.
    pub fn none(vocab_size: usize) -> Mask {
        Mask { words: vec![0; vocab_size.div_ceil(32)], len: vocab_size }
    }

    /// The set of all `vocab_size` tokens.
    pub fn all(vocab_size: usize) -> Mask {
        let mut mask = Mask { words: vec![u32::MAX; vocab_size.div_ceil(32)], len: vocab_size };
        mask.trim();
        mask
    }

    /// The size of the vocabulary (not of the set).
    pub fn vocab_size(&self) -> usize {
        self.len
    }

    /// The number of tokens in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether `token` is in the set; false for ids outside the vocabulary.
    pub fn allows(&self, token: u32) -> bool {
        let word = self.words.get(token as usize / 32).copied().unwrap_or(0);
        word >> (token % 32) & 1 == 1
    }

    /// Adds `token`. Fails for an id outside the vocabulary.
    pub fn allow(&mut self, token: u32) -> Result<(), Error> {
        *self.word(token)? |= 1 << (token % 32);
        Ok(())
    }

    /// Removes `token`. Fails for an id outside the vocabulary.
    pub fn forbid(&mut self, token: u32) -> Result<(), Error> {
        *self.word(token)? &= !(1 << (token % 32));
        Ok(())
    }

    /// The words of the set, ceil(vocabulary / 32) of them.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The tokens of the set, rising.
    pub fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(index as u32 * 32 + bit)
            })
        })
    }

    /// Takes over the bits of `words`; missing words count as zero, bits past the vocabulary go.
    pub(crate) fn copy_words(&mut self, words: &[u32]) {
        for (index, word) in self.words.iter_mut().enumerate() {
            *word = words.get(index).copied().unwrap_or(0);
        }
        self.trim();
    }

    fn word(&mut self, token: u32) -> Result<&mut u32, Error> {
        let vocab_size = self.len;
        let known = (token as usize) < vocab_size;
        let word = self.words.get_mut(token as usize / 32).filter(|_| known);
        word.ok_or(Error::UnknownToken { token, vocab_size, place: "a mask" })
    }

    fn trim(&mut self) {
        let used = self.len % 32;
        if let Some(last) = self.words.last_mut().filter(|_| used != 0) {
            *last &= (1 << used) - 1;
        }
    }
}
