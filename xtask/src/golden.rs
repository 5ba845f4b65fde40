//! `cargo xtask golden`: remakes the checked-in golden files with the programs that define them.
//!
//! Nothing of the gate runs this: tests read what is checked in and install none of it. Versions
//! are pinned, so that a change of a file is a change of a script or of a row here.

use crate::process::{self, command, python_with, root};
use anyhow::{Context as _, Result, ensure};

/// A script, how it is called, and what it needs from PyPI.
struct Golden {
    name: &'static str,
    script: &'static str,
    packages: &'static [&'static str],
}

const NUMPY: &str = "numpy==2.4.6";
const GGUF: &str = "gguf==0.19.0";

/// A script with a `requirements.txt` beside it needs no list here.
const GOLDEN: &[Golden] = &[
    Golden { name: "quant", script: "crates/quant/tests/golden.py", packages: &[NUMPY, GGUF] },
    Golden {
        name: "chat",
        script: "crates/chat/tests/golden.py",
        packages: &["jinja2==3.1.6", GGUF],
    },
    Golden { name: "models", script: "crates/models/tests/golden.py", packages: &[] },
];

/// The entry point: the named ones, or all.
///
/// # Errors
/// An unknown name, packages that cannot be installed, or a script that fails.
pub fn run(arguments: &[String]) -> Result<()> {
    for name in arguments {
        let known: Vec<&str> = GOLDEN.iter().map(|golden| golden.name).collect();
        ensure!(known.contains(&name.as_str()), "no '{name}'; known are: {}", known.join(" "));
    }
    let wanted =
        |golden: &&Golden| arguments.is_empty() || arguments.iter().any(|name| name == golden.name);
    for golden in GOLDEN.iter().filter(wanted) {
        println!("{}: {}", golden.name, golden.script);
        // One environment each, so that the heavy one is made only for whom it serves.
        let python = python_with(&format!("venv/{}", golden.name), &packages(golden)?)?;
        process::run(command(python).arg(golden.script))
            .with_context(|| format!("remaking the golden files of {}", golden.name))?;
    }
    Ok(())
}

/// What the row names and what stands in the script's own list.
fn packages(golden: &Golden) -> Result<Vec<String>> {
    let mut packages: Vec<String> = golden.packages.iter().map(|name| (*name).to_owned()).collect();
    let list = root().join(golden.script).with_file_name("requirements.txt");
    if list.exists() {
        let text = std::fs::read_to_string(&list).with_context(|| list.display().to_string())?;
        packages.extend(requirements(&text));
    }
    ensure!(
        packages.iter().all(|package| package.contains("==")),
        "{}: a package without its version; golden files name the versions that made them",
        golden.name
    );
    Ok(packages)
}

/// The lines of a requirements file without comments.
fn requirements(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
        .filter(|line| !line.is_empty())
}

#[cfg(test)]
#[path = "golden_tests.rs"]
mod tests;
