//! `cargo xtask fixtures`: what tests compare with and the repository does not carry.
//!
//! The vocabularies and chat templates of llama.cpp's Python package are megabytes of other
//! people's files; the scripts beside the tests fetch them into `target/vocabularies`.

use crate::process::{self, command};
use anyhow::{Context as _, Result};

/// The scripts and what makes each of them fetch only.
const SCRIPTS: &[(&str, &[&str])] = &[
    ("crates/tokenizer/tests/vocabularies.py", &[]),
    ("crates/chat/tests/golden.py", &["--fetch"]),
];

/// The entry point.
///
/// # Errors
/// A script fails.
pub fn run(arguments: &[String]) -> Result<()> {
    process::flags(arguments, [])?;
    for (script, options) in SCRIPTS {
        process::run(command("python3").arg(script).args(*options))
            .with_context(|| format!("fetching what {script} names"))?;
    }
    Ok(())
}
