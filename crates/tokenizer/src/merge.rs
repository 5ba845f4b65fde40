//! The loop that both kinds of vocabulary share: merge the best two neighbours until none can.
//!
//! What "best" means is the caller's: a rank of pairs, or a score of tokens. Candidates wait in a
//! heap, and each merge makes at most two new ones, so n symbols take n log n whatever they are.
//!
//! Invariant: the symbols that are left cover the text as the given ones did, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A run of the text that is, or could become, one token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Symbol {
    /// Where the run starts, in bytes.
    pub(crate) start: u32,
    /// Its length in bytes; 0 once it was merged into the symbol before.
    pub(crate) len: u32,
    /// Its token, if there is one.
    pub(crate) id: Option<u32>,
    previous: u32,
    next: u32,
}

impl Symbol {
    /// Its bytes in the text.
    pub(crate) fn bytes(self, text: &[u8]) -> &[u8] {
        let start = self.start as usize;
        text.get(start..start + self.len as usize).unwrap_or_default()
    }
}

/// The token that two neighbours make, and how early they should; the greatest goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Merge {
    pub(crate) priority: u32,
    pub(crate) id: u32,
}

/// No symbol: the text ends here.
const NONE: u32 = u32::MAX;

/// The most bytes of text that symbols can address.
pub(crate) const TEXT_BYTES_MAX: usize = NONE as usize - 1;

/// A merge of two symbols as they were; the greatest is the earliest, of equals the leftmost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    priority: u32,
    left: Reverse<u32>,
    right: u32,
    len: u32,
    id: u32,
}

/// The symbols of one text after another; the memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    symbols: Vec<Symbol>,
    candidates: BinaryHeap<Candidate>,
}

impl Symbols {
    /// Forgets the last text.
    pub(crate) fn clear(&mut self) {
        self.symbols.clear();
    }

    /// Appends a symbol. The text has at most [`TEXT_BYTES_MAX`] bytes.
    pub(crate) fn push(&mut self, start: usize, len: usize, id: Option<u32>) {
        debug_assert!(start + len <= TEXT_BYTES_MAX);
        let place = self.symbols.len() as u32;
        let previous = place.checked_sub(1).unwrap_or(NONE);
        if let Some(last) = self.symbols.last_mut() {
            last.next = place;
        }
        let (start, len) = (start as u32, len as u32);
        self.symbols.push(Symbol { start, len, id, previous, next: NONE });
    }

    /// Merges until `join` has nothing for any two neighbours.
    pub(crate) fn merge(&mut self, join: impl Fn(Symbol, Symbol) -> Option<Merge>) {
        let Self { symbols, candidates } = self;
        // Ordered all at once: a heap of n takes n steps, n insertions take n log n.
        let mut first = std::mem::take(candidates).into_vec();
        first.clear();
        let pairs = (1..symbols.len()).map(|right| (right as u32 - 1, right as u32));
        first.extend(pairs.filter_map(|(left, right)| candidate(symbols, &join, left, right)));
        *candidates = BinaryHeap::from(first);
        while let Some(Candidate { left: Reverse(left), right, len, id, .. }) = candidates.pop() {
            let (left_symbol, right_symbol) = (symbols[left as usize], symbols[right as usize]);
            let whole = left_symbol.len > 0 && right_symbol.len > 0;
            // A symbol only grows, so equal lengths mean the two are as they were.
            if !whole || left_symbol.len + right_symbol.len != len {
                continue;
            }
            symbols[left as usize] =
                Symbol { len, id: Some(id), next: right_symbol.next, ..left_symbol };
            symbols[right as usize].len = 0;
            if right_symbol.next != NONE {
                symbols[right_symbol.next as usize].previous = left;
                candidates.extend(candidate(symbols, &join, left, right_symbol.next));
            }
            if left_symbol.previous != NONE {
                candidates.extend(candidate(symbols, &join, left_symbol.previous, left));
            }
        }
    }

    /// The symbols that are left, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Symbol> {
        self.symbols.iter().copied().filter(|symbol| symbol.len > 0)
    }
}

fn candidate(
    symbols: &[Symbol],
    join: impl Fn(Symbol, Symbol) -> Option<Merge>,
    left: u32,
    right: u32,
) -> Option<Candidate> {
    let (left_symbol, right_symbol) = (symbols[left as usize], symbols[right as usize]);
    let Merge { priority, id } = join(left_symbol, right_symbol)?;
    let len = left_symbol.len + right_symbol.len;
    Some(Candidate { priority, left: Reverse(left), right, len, id })
}
