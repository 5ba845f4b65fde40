//! The last step: from weighed candidates and one uniform number to a token.

use crate::stage::{Candidate, weigh};

/// The index of the chosen candidate and its probability among the candidates.
///
/// Inverse transform in rising order of token id: the first candidate whose cumulative weight
/// exceeds `uniform` (in [0, 1)) times the total. The order does not depend on what the stages did
/// to it. The slice is not empty.
pub(crate) fn draw(candidates: &mut [Candidate], uniform: f64) -> (usize, f64) {
    if !candidates.is_sorted_by_key(|c| c.token) {
        candidates.sort_unstable_by_key(|c| c.token);
    }
    let total = weigh(candidates);
    let target = uniform * total;
    let mut cumulative = 0.0;
    let mut last = 0;
    for (index, candidate) in candidates.iter().enumerate() {
        if candidate.weight == 0.0 {
            continue;
        }
        cumulative += candidate.weight;
        last = index;
        if cumulative > target {
            break;
        }
    }
    (last, candidates[last].weight / total)
}
