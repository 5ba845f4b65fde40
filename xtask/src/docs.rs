//! `cargo xtask docs`: the pages of `docs/generated`, written by the program they describe.
//!
//! Each page is what the hidden command `minfer docs NAME` prints, so a page cannot say what the
//! program does not do. `--check` writes nothing and fails on a difference.

use crate::process::{self, cargo, command, output, root};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The pages, by the name the program knows them by.
const PAGES: [&str; 6] = ["ops", "quants", "models", "support", "flags", "limits"];

const HEAD: &str = "<!-- Written by `cargo xtask docs`; change the code, not this page. -->\n\n";

/// The entry point.
///
/// # Errors
/// A page cannot be made, or with `--check` differs from the one that is checked in.
pub fn run(arguments: &[String]) -> Result<()> {
    let [check] = process::flags(arguments, ["--check"])?;
    let folder = root().join("docs/generated");
    let program = program()?;
    let mut stale = Vec::new();
    for name in PAGES {
        let page = page(&program, name)?;
        let path = folder.join(format!("{name}.md"));
        let found = fs::read_to_string(&path).unwrap_or_default();
        if found == page {
            continue;
        }
        if check {
            stale.push(format!("docs/generated/{name}.md: {}", first_difference(&found, &page)));
        } else {
            fs::create_dir_all(&folder)?;
            fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
            println!("docs/generated/{name}.md written");
        }
    }
    ensure!(
        stale.is_empty(),
        "generated pages are out of date: run `cargo xtask docs`\n{}",
        stale.join("\n")
    );
    Ok(())
}

fn page(program: &Path, name: &str) -> Result<String> {
    let text = output(command(program).args(["docs", name]))?;
    ensure!(!text.trim().is_empty(), "`minfer docs {name}` printed nothing");
    Ok(format!("{HEAD}{}\n", text.trim_end()))
}

/// Builds the program the way the tests do, so that nothing is built twice: alone, it would bring
/// other features of the crates it shares with the rest of the workspace.
fn program() -> Result<PathBuf> {
    process::run(cargo().args(process::BUILD_ALL))?;
    Ok(process::build_folder()?.join("debug/minfer"))
}

/// Where two texts part, for a message.
fn first_difference(found: &str, expected: &str) -> String {
    let mut theirs = found.lines();
    for (number, line) in expected.lines().enumerate() {
        match theirs.next() {
            Some(other) if other == line => {}
            Some(other) => {
                return format!("line {}: expected `{line}`, found `{other}`", number + 1);
            }
            None => return format!("line {}: expected `{line}`, found the end", number + 1),
        }
    }
    "longer than it should be".to_owned()
}

#[cfg(test)]
#[path = "docs_tests.rs"]
mod tests;
