//! The known name that a mistyped one is nearest to.

use super::table;

/// The key that was probably meant by `word`; aliases lead to their row's name.
pub fn key(word: &str) -> Option<&'static str> {
    let known = table::rows().flat_map(|flag| {
        let names = [flag.name].into_iter().chain(flag.aliases.iter().copied());
        names.chain(flag.dashed.iter().copied()).map(|name| (name, flag.name))
    });
    near(word, known)
}

/// The name that was probably meant by `word`.
pub fn of<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    near(word, names.map(|name| (name, name)))
}

/// Of pairs of a spelling and what it stands for, what the nearest spelling stands for.
fn near<'n>(word: &str, known: impl Iterator<Item = (&'n str, &'n str)>) -> Option<&'n str> {
    let measured = known.map(|(spelling, name)| (distance(word, spelling), name));
    let (edits, name) = measured.min_by_key(|(edits, _)| *edits)?;
    // A third of a word may be wrong; beyond that any name is as near as another.
    (edits <= word.chars().count().div_ceil(3)).then_some(name)
}

/// Characters to insert, remove or replace between two words (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, here) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, there) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(here != *there);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}
