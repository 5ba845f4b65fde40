//! Greedy text against llama.cpp's: equal up to a step at which the candidates are closer than
//! llama.cpp's own ways of running the file are to each other.

use crate::data::Greedy;

/// A token, and the most probable candidates at its place.
pub type Chosen = (u32, Vec<(u32, f32)>);

/// Compares up to the first difference, where both sides must hold the candidates close.
pub fn compare(name: &str, ours: &[Chosen], theirs: &[Greedy], spread: f64) {
    let differs = ours.iter().zip(theirs).position(|((id, _), step)| *id != step.id);
    let Some(at) = differs else {
        assert!(!ours.is_empty(), "{name}: no tokens");
        return;
    };
    let ((id, top), step) = (&ours[at], &theirs[at]);
    let logprob = |id: u32| top.iter().find(|(t, _)| *t == id).map(|(_, l)| f64::from(*l));
    let gap = logprob(*id).zip(logprob(step.id)).map(|(ours, theirs)| ours - theirs);
    assert!(
        step.gap <= spread && gap.is_some_and(|gap| gap <= spread),
        "{name} step {at}: {id} instead of {}, ahead by {gap:?} here and behind by {} there",
        step.id,
        step.gap
    );
}
