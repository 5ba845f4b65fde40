//! `cargo xtask tidy`: the rules of this project that no compiler checks.
//!
//! Each rule is a function from sources to findings in a file of its own, tested on samples. A
//! finding names the file, the line, the rule and what to do. There is no list of exceptions: a
//! rule that is wrong is changed here.

mod borders;
mod edges;
mod leftovers;
mod lines;
mod packages;
mod pairs;
mod sizes;
mod source;
mod unsafe_code;
mod wildcards;

use crate::process::{self, root};
use anyhow::{Result, bail};
use source::Source;

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// From the repository's root, with forward slashes.
    path: String,
    /// From one; zero stands for the file as a whole.
    line: usize,
    rule: &'static str,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, message: message.into() }
    }
}

/// The rules that look at one file at a time.
const FILE_RULES: &[fn(&Source) -> Vec<Finding>] = &[
    sizes::check,
    lines::check,
    leftovers::check,
    unsafe_code::check,
    wildcards::check,
    borders::check,
];

/// The entry point.
///
/// # Errors
/// Any finding; all are printed first.
pub fn run(arguments: &[String]) -> Result<()> {
    process::flags(arguments, [])?;
    let sources = source::load(root())?;
    let mut findings: Vec<Finding> = Vec::new();
    for source in &sources {
        findings.extend(source.unreadable());
        findings.extend(FILE_RULES.iter().flat_map(|rule| rule(source)));
    }
    let paths: Vec<String> = source::paths(root())?;
    findings.extend(pairs::check(&paths, &sources));
    let metadata = packages::metadata()?;
    findings.extend(edges::check(&edges::read(&metadata)));
    findings.extend(packages::check(&packages::read(&metadata)?));
    findings.sort();
    for Finding { path, line, rule, message } in &findings {
        println!("{path}:{line}: {rule}: {message}");
    }
    if findings.is_empty() {
        println!("tidy: {} files, no findings", sources.len());
        return Ok(());
    }
    bail!("tidy: {} findings", findings.len())
}
