//! One name, one file, everywhere: what has to lie beside each op, format and architecture.

use super::{Finding, Source};
use std::collections::BTreeSet;

/// A folder whose files name things, and where each of these things has another file.
struct Pair {
    /// Files `<folder>/<name>.rs` are the things themselves.
    folder: &'static str,
    /// Files there that are not things but serve several of them.
    shared: &'static [&'static str],
    /// What each needs: `{}` is its name.
    needs: &'static [&'static str],
}

const PAIRS: &[Pair] = &[
    Pair {
        folder: "crates/graph/src/op",
        shared: &["mod", "check"],
        needs: &["crates/reference/src/op/{}.rs", "crates/conformance/src/ops/{}.rs", KERNEL],
    },
    Pair {
        folder: "crates/quant/src/format",
        shared: &["five_bits", "planes", "six_bits"],
        needs: &["crates/quant/tests/data/{}.bin", "crates/backend-cpu/src/kernels/quant/{}.rs"],
    },
    Pair {
        folder: "crates/models/src/arch",
        shared: &["mod"],
        needs: &["crates/models/tests/fixtures/{}.gguf"],
    },
];

const KERNEL: &str = "crates/backend-cpu/src/kernels/{}.rs";

/// Where the CPU device says which ops it leaves to their decomposition.
const KERNELS: &str = "crates/backend-cpu/src/kernels/mod.rs";

/// Missing files, and folders that hold nothing.
pub fn check(paths: &[String], sources: &[Source]) -> Vec<Finding> {
    let there: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    let declined = sources.iter().find(|source| source.path == KERNELS).map(declined);
    let declined = declined.unwrap_or_default();
    let mut findings = Vec::new();
    for Pair { folder, shared, needs } in PAIRS {
        let names: Vec<&str> = paths
            .iter()
            .filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs"))
            .filter(|name| {
                !name.contains('/') && !name.ends_with("tests") && !shared.contains(name)
            })
            .collect();
        if names.is_empty() {
            findings.push(Finding::new(folder, 0, "pairs", "no file in this folder"));
        }
        for name in names {
            for need in *needs {
                let other = need.replace("{}", name);
                let excused = *need == KERNEL && declined.contains(&camel(name));
                if !excused && !there.contains(other.as_str()) {
                    let message = format!("`{name}` has no {other}");
                    let path = format!("{folder}/{name}.rs");
                    findings.push(Finding::new(&path, 0, "pairs", message));
                }
            }
        }
    }
    findings
}

/// The ops that an arm answers with `Unsupported`: from `Op :: Name` on, the next arrow's right
/// side begins so.
fn declined(source: &Source) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = Vec::new();
    for (at, token) in source.tokens.iter().enumerate() {
        let next = |step: usize| source.tokens.get(at + step).map_or("", |token| &token.text);
        if token.text == "Op" && next(1) == ":" && next(2) == ":" {
            open.push(next(3).to_owned());
        } else if token.text == "=" && next(1) == ">" {
            // `=> Err(Unsupported…` or `=> Unsupported…`.
            if (2..=4).any(|step| next(step) == "Unsupported") {
                found.extend(open.drain(..));
            }
            open.clear();
        }
    }
    found
}

/// `rms_norm` as a type's name: `RmsNorm`.
fn camel(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_uppercase() + rest
        })
        .collect()
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
