//! Split sets: one model in several files, `NAME-00001-of-00003.gguf` and so on.
//!
//! Each file is a GGUF file of its own. The first carries the model's metadata; every one says in
//! `split.no` (from 0), `split.count` and `split.tensors.count` (of the whole set) where it
//! belongs. A set is opened through any of its files, and all of them must agree.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::limits::PARTS;
use crate::metadata::Metadata;

/// Key of a file's place in its set, from 0.
pub(crate) const NUMBER_KEY: &str = "split.no";
/// Key of the number of files in the set.
pub(crate) const COUNT_KEY: &str = "split.count";
/// Key of the number of tensors in the whole set.
pub(crate) const TENSORS_KEY: &str = "split.tensors.count";

/// What a file says about the set it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Membership {
    /// Place in the set, from 0.
    pub(crate) number: u64,
    /// Files in the set, at least 2.
    pub(crate) count: u64,
    /// Tensors in the whole set.
    pub(crate) tensors: u64,
}

impl Membership {
    /// `None` for a file that is a whole model.
    pub(crate) fn of(metadata: &Metadata) -> Result<Option<Self>> {
        let count = metadata.u64(COUNT_KEY)?.unwrap_or(0);
        if count <= 1 {
            return Ok(None);
        }
        if count > PARTS.value {
            let (limit, what) = (PARTS, "the number of parts (split.count)");
            return Err(Error::Limit { limit, what, found: count, offset: 0 });
        }
        let number = metadata.require_u64(NUMBER_KEY)?;
        let tensors = metadata.require_u64(TENSORS_KEY)?;
        Ok(Some(Self { number, count, tensors }))
    }
}

/// File name of part `part` (from 1) of `count`.
pub fn part_name(prefix: &str, part: u64, count: u64) -> String {
    format!("{prefix}{}", part_suffix(part, count))
}

/// The prefix, part (from 1) and count that a file name states, when it is one of a split set.
pub fn parse_part_name(name: &str) -> Option<(&str, u64, u64)> {
    let (rest, count) = name.strip_suffix(".gguf")?.rsplit_once("-of-")?;
    let (prefix, part) = rest.rsplit_once('-')?;
    let (part, count) = (five_digits(part)?, five_digits(count)?);
    (1..=count).contains(&part).then_some((prefix, part, count))
}

/// Paths of all parts of the set that `path` is a part of, by its name.
pub(crate) fn sibling_paths(path: &Path, member: Membership) -> Result<Vec<PathBuf>> {
    let part = member.number.saturating_add(1);
    let name = path.file_name().and_then(|name| name.to_str()).and_then(parse_part_name);
    match name {
        Some((prefix, named, count)) if (named, count) == (part, member.count) => {
            let sibling = |part| path.with_file_name(part_name(prefix, part, count));
            Ok((1..=count).map(sibling).collect())
        }
        _ => Err(Error::SplitName {
            part,
            count: member.count,
            expected: part_suffix(part, member.count),
        }),
    }
}

/// Checks that part `number` of `count` says so itself, and speaks of `tensors` tensors in all.
pub(crate) fn check(metadata: &Metadata, expected: Membership) -> Result<()> {
    let number = expected.number;
    let part = number.saturating_add(1);
    let found = Membership::of(metadata)?.unwrap_or(Membership { number, count: 1, tensors: 0 });
    let rows = [
        (COUNT_KEY, expected.count, found.count),
        (NUMBER_KEY, number, found.number),
        (TENSORS_KEY, expected.tensors, found.tensors),
    ];
    match rows.into_iter().find(|(_, expected, found)| expected != found) {
        Some((key, expected, found)) => Err(Error::SplitMismatch { part, key, expected, found }),
        None => Ok(()),
    }
}

fn part_suffix(part: u64, count: u64) -> String {
    format!("-{part:05}-of-{count:05}.gguf")
}

fn five_digits(text: &str) -> Option<u64> {
    let digits = text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
