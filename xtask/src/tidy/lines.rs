//! Lines: a hundred columns, no trailing space, no tab; and the essay that opens each module.

use super::{Finding, Source};

const COLUMNS: usize = 100;

/// Lines that are too long or end in space, and modules that do not say what they are for.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |line, rule, message: String| {
        findings.push(Finding::new(&source.path, line, rule, message));
    };
    let code = source.is_rust() || source.path.ends_with(".py") || source.path.ends_with(".rs.in");
    for (number, line) in (1..).zip(source.text.split('\n')) {
        let columns = line.chars().count();
        if code && columns > COLUMNS {
            add(number, "columns", format!("{columns} columns, at most {COLUMNS}"));
        }
        if line.ends_with([' ', '\t', '\r']) {
            add(number, "spaces", "ends in a space".to_owned());
        }
        if line.contains('\t') {
            add(number, "spaces", "holds a tab".to_owned());
        }
    }
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        add(0, "spaces", "the last line does not end".to_owned());
    }
    let module = source.path.contains("/src/") && !source.is_test();
    // The essay may stand below an inner attribute.
    let speaks = |syntax: &syn::File| syntax.attrs.iter().any(|attr| attr.path().is_ident("doc"));
    if module && source.syntax.as_ref().is_some_and(|syntax| !speaks(syntax)) {
        add(1, "module docs", "begin with `//!`: what it is for, what it is not for".to_owned());
    }
    findings
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
