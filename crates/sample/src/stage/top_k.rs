//! Top-k: keeps the k most probable tokens.
//!
//! Source: Fan et al., arXiv:1805.04833.

use super::{Candidate, rank};

/// Keeps the first `k` candidates by rank, by partial selection. Off (keeps all) when `k` is zero.
pub fn top_k(candidates: &mut [Candidate], k: usize) -> usize {
    if k == 0 || k >= candidates.len() {
        return candidates.len();
    }
    candidates.select_nth_unstable_by(k - 1, rank);
    k
}
