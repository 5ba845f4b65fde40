//! Unsafe code: where it may stand, and the line above it that says why it is sound.
//!
//! Works on tokens, so that the insides of macros count.

use super::{Finding, Source};

/// Whether unsafe code may stand in this file.
fn is_place(path: &str) -> bool {
    // Programs below `sim` call Metal, and Metal's calls are unsafe.
    let Some(rest) = path.strip_prefix("crates/") else { return path.starts_with("sim/") };
    let (krate, inside) = rest.split_once('/').unwrap_or((rest, ""));
    match krate {
        "gguf" => inside == "src/map.rs",
        "metal-sim" => true,
        "backend-cpu" => inside.starts_with("src/simd/") || inside.starts_with("src/sys/"),
        _ => krate.starts_with("backend-") && inside.starts_with("src/sys/"),
    }
}

/// Unsafe code in the wrong place, and unsafe code without its reason.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines: Vec<&str> = source.text.lines().collect();
    for (at, token) in source.tokens.iter().enumerate() {
        if token.text != "unsafe" {
            continue;
        }
        let after: Vec<&str> =
            source.tokens[at + 1..].iter().take(3).map(|token| token.text.as_str()).collect();
        if !is_place(&source.path) {
            let message = "unsafe code stands in gguf/src/map.rs, backend-cpu/src/simd and \
                           backend-*/src/sys only";
            findings.push(Finding::new(&source.path, token.line, "unsafe place", message));
        }
        // A block of foreign functions promises what they are; a function of C's kind only asks.
        let promise = match after[..] {
            ["{" | "impl", ..] => true,
            ["extern", second, third] => second != "fn" && third != "fn",
            _ => false,
        };
        if promise && !has_reason(&lines, token.line) {
            let message = "one `// SAFETY:` line above says why this is sound";
            findings.push(Finding::new(&source.path, token.line, "unsafe reason", message));
        }
    }
    findings
}

/// Looks upwards from the line (from one) through the statement it belongs to and the comment
/// above that.
fn has_reason(lines: &[&str], line: usize) -> bool {
    if lines.get(line - 1).is_some_and(|line| line.contains("SAFETY:")) {
        return true;
    }
    for above in lines.iter().take(line - 1).rev() {
        let above = above.trim();
        if above.starts_with("//") {
            if above.contains("SAFETY:") {
                return true;
            }
        } else if above.is_empty() || above.ends_with([';', '{', '}']) {
            return false;
        }
    }
    false
}

#[cfg(test)]
#[path = "unsafe_code_tests.rs"]
mod tests;
