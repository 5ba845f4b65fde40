//! XTC ("exclude top choices"): now and then removes all the likely tokens but the least likely
//! of them, so that the text leaves the beaten track without losing sense.
//!
//! Source: p-e-w, text-generation-webui pull request 6335.

use super::{Candidate, rank, retain, weigh};
use crate::params::Xtc;

/// When `uniform` (in [0, 1)) is below the stage's probability and two or more candidates have
/// probability >= threshold, removes those but the last-ranked of them.
pub fn xtc(candidates: &mut [Candidate], settings: &Xtc, uniform: f64) -> usize {
    // Two tokens cannot both have more than half of the mass.
    if uniform >= f64::from(settings.probability) || settings.threshold > 0.5 {
        return candidates.len();
    }
    let floor = weigh(candidates) * f64::from(settings.threshold);
    let likely = candidates.iter().filter(|c| c.weight >= floor);
    let Some(least) = likely.copied().max_by(rank) else { return candidates.len() };
    retain(candidates, |c| rank(c, &least).is_ge())
}
