//! The known name that a mistyped one is nearest to.

use super::{Flag, Kind, table};

/// The key that was probably meant by `word`; aliases lead to their row's name.
pub fn key(word: &str) -> Option<&'static str> {
    let known = table::rows().flat_map(|flag| {
        let names = [flag.name].into_iter().chain(flag.aliases.iter().copied());
        names.chain(flag.dashed.iter().copied()).map(|name| (name, flag.name))
    });
    near(word, known)
}

/// The switch that `word` is the opposite of: `no-mmap` of `mmap`.
pub fn opposite(word: &str) -> Option<&'static Flag> {
    table::rows().find(|flag| matches!(flag.kind, Kind::Switch(no) if no == word))
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
    (edits <= (word.chars().count() / 3).max(1)).then_some(name)
}

/// Characters to insert, remove or replace and neighbours to swap between two words (optimal string
/// alignment: no character is edited twice).
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (index, here) in from.iter().enumerate() {
        let mut row = vec![index + 1];
        for (column, there) in to.iter().enumerate() {
            let replaced = above[column] + usize::from(here != there);
            let mut least = replaced.min(row[column] + 1).min(above[column + 1] + 1);
            let crossed = index > 0 && column > 0;
            if crossed && *here == to[column - 1] && from[index - 1] == *there {
                least = least.min(before[column - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[to.len()]
}
