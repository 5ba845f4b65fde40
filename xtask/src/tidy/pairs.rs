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
        needs: &[
            "crates/reference/src/op/{}.rs",
            "crates/conformance/src/ops/{}.rs",
            "crates/backend-cpu/src/kernels/{}.rs",
            "crates/backend-metal/src/kernels/{}.rs",
        ],
    },
    Pair {
        folder: "crates/quant/src/format",
        shared: &["book", "five_bits", "planes", "six_bits"],
        needs: &[
            "crates/quant/tests/data/{}.bin",
            "crates/backend-cpu/src/kernels/quant/{}.rs",
            "crates/backend-metal/src/kernels/quant/{}.metal",
        ],
    },
    Pair {
        folder: "crates/models/src/arch",
        shared: &["mod"],
        needs: &["crates/models/tests/fixtures/{}.gguf"],
    },
];

/// Where a device says what it has no kernel of: the enum, the file that matches over it, what its
/// arms begin with then, and what is excused.
struct Answers {
    of: &'static str,
    file: &'static str,
    no: &'static str,
    excused: &'static str,
}

const ANSWERS: &[Answers] = &[
    Answers {
        of: "Op",
        file: "crates/backend-cpu/src/kernels/mod.rs",
        no: "Unsupported",
        excused: "crates/backend-cpu/src/kernels/{}.rs",
    },
    Answers {
        of: "Op",
        file: "crates/backend-metal/src/kernels/mod.rs",
        no: "Unsupported",
        excused: "crates/backend-metal/src/kernels/{}.rs",
    },
    Answers {
        of: "Quant",
        file: "crates/backend-metal/src/source.rs",
        no: "None",
        excused: "crates/backend-metal/src/kernels/quant/{}.metal",
    },
];

/// Where kernels' source lies beside the Rust that launches it.
const METAL: &str = "crates/backend-metal/src/kernels";

/// Missing files, and folders that hold nothing.
pub fn check(paths: &[String], sources: &[Source]) -> Vec<Finding> {
    let there: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    let answers = |answers: &Answers| {
        let source = sources.iter().find(|source| source.path == answers.file);
        let declined = source.map(|source| declined(source, answers));
        (answers.excused, declined.unwrap_or_default())
    };
    let declined: Vec<(&str, BTreeSet<String>)> = ANSWERS.iter().map(answers).collect();
    let mut findings = metal_sources(paths, sources);
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
                let excused = declined.iter().any(|(excused, names)| {
                    need == excused
                        && [camel(name), name.to_uppercase()].iter().any(|n| names.contains(n))
                });
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

/// Metal's map: a `.metal` file is named after an op, perhaps with what makes it a variant; and an
/// op has such files, or its Rust takes those of another op by `use super::<op>`.
fn metal_sources(paths: &[String], sources: &[Source]) -> Vec<Finding> {
    let file = |path: &'_ String, extension: &str| {
        let name = path.strip_prefix(METAL)?.strip_prefix('/')?.strip_suffix(extension)?;
        (!name.contains('/')).then(|| name.to_owned())
    };
    let launched: Vec<String> = paths.iter().filter_map(|path| file(path, ".rs")).collect();
    let written: Vec<String> = paths.iter().filter_map(|path| file(path, ".metal")).collect();
    let of = |source: &str, op: &str| {
        source.strip_prefix(op).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let has_source = |op: &str| written.iter().any(|source| of(source, op));
    let ops = paths
        .iter()
        .filter_map(|path| path.strip_prefix("crates/graph/src/op/")?.strip_suffix(".rs"));
    let ops: Vec<&str> = ops.filter(|op| launched.iter().any(|file| file == op)).collect();
    let mut findings = Vec::new();
    for source in written.iter().filter(|source| !ops.iter().any(|op| of(source, op))) {
        let path = format!("{METAL}/{source}.metal");
        findings.push(Finding::new(&path, 0, "pairs", "no op of this name is launched beside it"));
    }
    for op in ops.iter().filter(|op| !op.ends_with("mod") && !has_source(op)) {
        let path = format!("{METAL}/{op}.rs");
        let rust = sources.iter().find(|source| source.path == path);
        if !rust.is_some_and(|rust| taken(rust).iter().any(|other| has_source(other))) {
            let message = format!("no {op}.metal beside it, and no `use super::` of an op's file");
            findings.push(Finding::new(&path, 0, "pairs", message));
        }
    }
    findings
}

/// Names that a file takes from its folder: `use super :: name`, `use super :: { name, …`.
fn taken(source: &Source) -> BTreeSet<String> {
    let text = |at: usize| source.tokens.get(at).map_or("", |token| &token.text);
    let mut names = BTreeSet::new();
    for at in 0..source.tokens.len() {
        let begins = ["use", "super", ":", ":"].iter().enumerate().all(|(i, t)| text(at + i) == *t);
        if begins {
            let until = (at + 4..source.tokens.len()).take_while(|next| text(*next) != ";");
            names.extend(until.map(|next| text(next).to_owned()));
        }
    }
    names
}

/// The variants that an arm answers with a no: from `Op :: Name` on, the next arrow's right side
/// begins so.
fn declined(source: &Source, answers: &Answers) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = Vec::new();
    for (at, token) in source.tokens.iter().enumerate() {
        let next = |step: usize| source.tokens.get(at + step).map_or("", |token| &token.text);
        if token.text == answers.of && next(1) == ":" && next(2) == ":" {
            open.push(next(3).to_owned());
        } else if token.text == "=" && next(1) == ">" {
            // `=> Err(Unsupported…`, the same in braces or behind `return`, or `=> Unsupported…`.
            if (2..=5).any(|step| next(step) == answers.no) {
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
