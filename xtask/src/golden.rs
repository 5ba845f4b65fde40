//! `cargo xtask golden`: remakes the checked-in golden files with the programs that define them.
//!
//! Nothing of the gate runs this: tests read what is checked in and install none of it. Versions
//! are pinned, so that a change of a file is a change of a script or of a row here.

use crate::process::{self, command, python_with};
use anyhow::{Context as _, Result, ensure};

/// A script, how it is called, and what it needs from PyPI.
struct Golden {
    name: &'static str,
    script: &'static str,
    packages: &'static [&'static str],
}

const NUMPY: &str = "numpy==2.2.6";
const GGUF: &str = "gguf==0.17.1";

const GOLDEN: &[Golden] = &[
    Golden { name: "quant", script: "crates/quant/tests/golden.py", packages: &[NUMPY, GGUF] },
    Golden {
        name: "tokenizer",
        script: "crates/tokenizer/tests/golden.py",
        packages: &[NUMPY, GGUF],
    },
    Golden { name: "chat", script: "crates/chat/tests/golden.py", packages: &["jinja2==3.1.6"] },
    Golden {
        name: "models",
        script: "crates/models/tests/golden.py",
        packages: &[NUMPY, GGUF, "torch==2.7.1", "transformers==4.57.1", "sentencepiece==0.2.1"],
    },
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
        let python = python_with(&format!("venv/{}", golden.name), golden.packages)?;
        process::run(command(python).arg(golden.script))
            .with_context(|| format!("remaking the golden files of {}", golden.name))?;
    }
    Ok(())
}
