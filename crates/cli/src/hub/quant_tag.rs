//! The word in a model file's name that says its formats: `Q4_K_M` in `Qwen3-4B-Q4_K_M.gguf`.

/// Tags in the order in which they are taken when none is asked for.
const PREFERRED: &[&str] = &["Q4_K_M", "Q4_0", "Q8_0", "F16", "BF16"];

/// The tag of a file's path, in capitals.
pub fn of(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".gguf")?;
    // A part of a split set says which part it is after its tag.
    let stem = match stem.rsplit_once("-of-") {
        Some((front, _)) => front.rsplit_once('-').map_or(stem, |(front, _)| front),
        None => stem,
    };
    let words = stem.rsplit(['-', '.']).map(str::to_ascii_uppercase);
    words.into_iter().find(|word| is_tag(word))
}

fn is_tag(word: &str) -> bool {
    let digits = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    matches!(word, "F16" | "F32" | "BF16" | "MXFP4" | "NVFP4")
        || word.strip_prefix("IQ").is_some_and(digits)
        || word.strip_prefix('Q').is_some_and(digits)
        || word.strip_prefix("TQ").is_some_and(digits)
}

/// Whether a file is what a tag asks for; `UD-Q4_K_XL` is asked for by its last word too.
pub fn is(path: &str, tag: &str) -> bool {
    let tag = tag.to_ascii_uppercase();
    let last = tag.rsplit('-').next().unwrap_or(&tag);
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_uppercase();
    of(path).as_deref() == Some(last) && name.contains(&tag)
}

/// The tag to take of those that are there: the one asked for, else the first of the preferred
/// ones, else any.
pub fn choose<'p>(paths: &[&'p str], wanted: Option<&str>) -> Option<&'p str> {
    if let Some(tag) = wanted {
        return paths.iter().copied().find(|path| is(path, tag));
    }
    let preferred =
        PREFERRED.iter().find_map(|tag| paths.iter().copied().find(|path| is(path, tag)));
    preferred.or_else(|| paths.first().copied())
}
