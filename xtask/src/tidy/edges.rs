//! Who may depend on whom: the table of docs/ARCHITECTURE.md against the manifests.

use super::Finding;
use cargo_metadata::{DependencyKind, Metadata};
use std::collections::BTreeSet;

/// Crates that a crate may name; what lies under a named crate may be named too.
const MAY_USE: &[(&str, &[&str])] = &[
    ("quant", &[]),
    ("gguf", &["quant"]),
    ("graph", &["quant"]),
    ("plan", &["graph"]),
    ("reference", &["plan"]),
    ("backend-cpu", &["plan"]),
    ("backend-metal", &["plan"]),
    ("metal-sim", &[]),
    ("backend-cuda", &["plan"]),
    ("models", &["graph", "gguf"]),
    ("tokenizer", &["gguf"]),
    ("chat", &[]),
    ("sample", &[]),
    (
        "engine",
        &[
            "models",
            "plan",
            "reference",
            "backend-cpu",
            "backend-metal",
            "backend-cuda",
            "metal-sim",
            "tokenizer",
            "sample",
        ],
    ),
    ("server", &["engine", "chat"]),
    ("cli", &["engine", "chat", "server", "conformance"]),
    ("conformance", &["models", "plan", "reference"]),
    ("xtask", &[]),
    ("fuzz-targets", &["models", "backend-cpu", "tokenizer", "sample", "chat", "conformance"]),
];

/// What tests may name beside that.
const TESTS_MAY_USE: &[(&str, &[&str])] = &[
    ("plan", &["models"]),
    ("engine", &["conformance"]),
    ("backend-cpu", &["conformance"]),
    ("backend-metal", &["conformance", "metal-sim"]),
    ("backend-cuda", &["conformance"]),
];

/// An edge between two crates of the workspace, by folder name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    from: String,
    to: String,
    only_tests: bool,
}

/// The edges that the manifests have.
pub fn read(metadata: &Metadata) -> Vec<Edge> {
    let members = metadata.workspace_packages();
    let names: BTreeSet<&str> = members.iter().map(|package| package.name.as_str()).collect();
    let mut edges = Vec::new();
    for package in &members {
        for dependency in package.dependencies.iter().filter(|d| names.contains(&*d.name)) {
            edges.push(Edge {
                from: folder(package.name.as_str()).to_owned(),
                to: folder(&dependency.name).to_owned(),
                only_tests: dependency.kind == DependencyKind::Development,
            });
        }
    }
    edges
}

/// `minfer-quant` lies in `quant`; the binary's package `minfer` in `cli`.
fn folder(package: &str) -> &str {
    if package == "minfer" { "cli" } else { package.strip_prefix("minfer-").unwrap_or(package) }
}

fn manifest(folder: &str) -> String {
    match folder {
        "xtask" => "xtask/Cargo.toml".to_owned(),
        "fuzz-targets" => "fuzz/targets/Cargo.toml".to_owned(),
        _ => format!("crates/{folder}/Cargo.toml"),
    }
}

/// Edges that the table does not have.
pub fn check(edges: &[Edge]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Edge { from, to, only_tests } in edges {
        let mut allowed = reach(row(MAY_USE, from));
        if *only_tests {
            allowed.extend(reach(row(TESTS_MAY_USE, from)));
        }
        if !allowed.contains(to.as_str()) {
            let kind = if *only_tests { "in tests " } else { "" };
            let message = format!("`{from}` may not {kind}use `{to}`: see docs/ARCHITECTURE.md");
            findings.push(Finding::new(&manifest(from), 0, "edges", message));
        }
    }
    findings
}

fn row(table: &[(&str, &'static [&'static str])], name: &str) -> &'static [&'static str] {
    table.iter().find(|(from, _)| *from == name).map_or(&[], |(_, to)| *to)
}

/// The named crates and all under them.
fn reach(named: &[&'static str]) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut open = named.to_vec();
    while let Some(name) = open.pop() {
        if found.insert(name) {
            open.extend(row(MAY_USE, name));
        }
    }
    found
}

#[cfg(test)]
#[path = "edges_tests.rs"]
mod tests;
