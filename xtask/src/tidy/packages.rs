//! What the command brings from outside: how many packages, and that they build without C.

use super::Finding;
use crate::process::root;
use anyhow::{Context as _, Result};
use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, NodeDep, PackageId};
use std::collections::{BTreeMap, BTreeSet};

const PACKAGES: usize = 190;

/// The platform that is counted for: the one most people build on.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Cryptography is the one thing that may bring C and assembly.
const NEEDS_C: [&str; 1] = ["ring"];

/// What a package that compiles C builds with.
const C_BUILDERS: [&str; 5] = ["autotools", "bindgen", "cc", "cmake", "pkg-config"];

/// Packages by name, each with the names of its build dependencies that are in use.
pub type Packages = BTreeMap<String, Vec<String>>;

/// Asks cargo for the workspace and all that it resolves to.
///
/// # Errors
/// Cargo fails, for instance on a manifest that does not parse.
pub fn metadata() -> Result<Metadata> {
    let options = ["--filter-platform", PLATFORM].map(String::from).to_vec();
    MetadataCommand::new()
        .current_dir(root())
        .features(CargoOpt::SomeFeatures(Vec::new()))
        .other_options(options)
        .exec()
        .context("reading the workspace with `cargo metadata`")
}

/// All packages that building `minfer` compiles.
///
/// # Errors
/// The metadata has no resolve graph or no package `minfer`.
pub fn read(metadata: &Metadata) -> Result<Packages> {
    let resolve = metadata.resolve.as_ref().context("cargo metadata has no resolve graph")?;
    let nodes: BTreeMap<&PackageId, &[NodeDep]> =
        resolve.nodes.iter().map(|node| (&node.id, &node.deps[..])).collect();
    let is_minfer = |id: &&PackageId| metadata[id].name.as_str() == "minfer";
    let start = nodes.keys().copied().find(is_minfer).context("no package `minfer`")?;
    let (mut open, mut seen, mut packages) = (vec![start], BTreeSet::new(), Packages::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let tools = packages.entry(metadata[id].name.to_string()).or_default();
        for dependency in nodes.get(id).copied().unwrap_or_default() {
            let has = |kind| dependency.dep_kinds.iter().any(|found| found.kind == kind);
            if has(DependencyKind::Build) {
                tools.push(metadata[&dependency.pkg].name.to_string());
            }
            if has(DependencyKind::Build) || has(DependencyKind::Normal) {
                open.push(&dependency.pkg);
            }
        }
    }
    Ok(packages)
}

/// Too many packages, and packages that need a C compiler.
pub fn check(packages: &Packages) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |message| findings.push(Finding::new("Cargo.lock", 0, "packages", message));
    if packages.len() > PACKAGES {
        add(format!("building minfer takes {} packages, at most {PACKAGES}", packages.len()));
    }
    for (name, tools) in packages {
        let tool = tools.iter().find(|tool| C_BUILDERS.contains(&tool.as_str()));
        if let Some(tool) = tool.filter(|_| !NEEDS_C.contains(&name.as_str())) {
            add(format!("`{name}` builds with `{tool}`: only {} may", NEEDS_C.join(", ")));
        }
    }
    findings
}

#[cfg(test)]
#[path = "packages_tests.rs"]
mod tests;
