//! Leftovers: what work in progress leaves behind, and names of things outside the project.

use super::{Finding, Source};

/// Text that stands nowhere.
const ANYWHERE: [&str; 9] = [
    "todo!",
    "unimplemented!",
    "dbg!",
    "#[ignore",
    "allow(dead_code",
    "expect(dead_code",
    "allow(unused",
    "allow(unsafe_code",
    "/work/",
];

/// Words that stand nowhere; letters beside them make another word.
const WORDS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

/// Everything of the above, each as its line.
pub fn check(source: &Source) -> Vec<Finding> {
    // The rule's own files have to name what they look for.
    if source.path.starts_with("xtask/src/tidy/leftovers") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let mut add = |message: String| {
            findings.push(Finding::new(&source.path, number, "leftover", message));
        };
        for text in ANYWHERE.iter().filter(|text| line.contains(**text)) {
            add(format!("`{text}` stands nowhere"));
        }
        for word in WORDS.iter().filter(|word| has_word(line, word)) {
            add(format!("`{word}`: do it, or file it"));
        }
        if line.contains("/tmp/") && !source.is_test_line(number) {
            add("`/tmp/` outside tests: take a folder from the system".to_owned());
        }
        if let Some(issue) = issue_number(comment(source, line)) {
            add(format!("`{issue}`: say the reason, not its number"));
        }
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

/// The part of a line that speaks to people: all of a page, the comment of a line of code.
fn comment<'a>(source: &Source, line: &'a str) -> &'a str {
    if source.path.ends_with(".md") {
        return line;
    }
    let mark = if source.is_rust() { "//" } else { "# " };
    line.find(mark).map_or("", |at| &line[at + mark.len()..])
}

/// `#12` or `issue 12`, not part of another word.
fn issue_number(text: &str) -> Option<&str> {
    for (at, _) in text.match_indices(['#', 'i', 'I']) {
        let rest = &text[at..];
        let after = rest
            .strip_prefix('#')
            .or_else(|| rest.strip_prefix("issue "))
            .or_else(|| rest.strip_prefix("Issue "));
        let digits = after.map_or(0, |after| after.bytes().take_while(u8::is_ascii_digit).count());
        let inside = text[..at].ends_with(|c: char| c.is_alphanumeric() || "&\"'`:{[".contains(c));
        if digits > 0 && !inside {
            return Some(&rest[..rest.len() - after.map_or(0, str::len) + digits]);
        }
    }
    None
}

#[cfg(test)]
#[path = "leftovers_tests.rs"]
mod tests;
