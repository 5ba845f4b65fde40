//! What a crate may touch beside its neighbours: the terminal, the environment, files, features.

use super::source::Token;
use super::{Finding, Source};

/// Crates that speak to people: they print, read the environment and open files.
const SPEAKING: [&str; 5] = ["cli", "fuzz", "metal-sim", "server", "xtask"];

/// The one library that opens files.
const FILES: &str = "gguf";

/// The one file that knows which devices are built in.
const DEVICES: &str = "crates/engine/src/devices.rs";

/// Endings of names that say nothing.
const EMPTY_NAMES: [&str; 6] = ["Manager", "Helper", "Util", "Utils", "Context", "Wrapper"];

/// Prints, environment, file access, device features and empty names in the wrong places.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let krate = source.crate_name();
    let script = source.path.ends_with("/build.rs") || source.path.contains("/build/");
    let script = script && !source.path.contains("/src/");
    let program = ["/examples/", "/benches/"].iter().any(|folder| source.path.contains(folder));
    let speaks = SPEAKING.contains(&krate) || script || program;
    for (at, token) in source.tokens.iter().enumerate() {
        let after = &source.tokens[at..];
        let mut add = |rule, message: String| {
            findings.push(Finding::new(&source.path, token.line, rule, message));
        };
        if is_device_feature(after) && source.path != DEVICES {
            add("features", format!("device features are named in {DEVICES} and manifests only"));
        }
        if let Some(name) = empty_name(after) {
            add("names", format!("`{name}` says nothing: name what it holds or does"));
        }
        if speaks || source.is_test_line(token.line) {
            continue;
        }
        if let Some(name) = prints(after) {
            add("prints", format!("`{name}!` in a library: only the command speaks"));
        }
        if path(after, "std", "env") || path(after, "env", "var") || path(after, "env", "args") {
            add("environment", "a library is handed its settings".to_owned());
        }
        if krate != FILES && (path(after, "std", "fs") || path(after, "fs", "read")) {
            add("files", format!("among libraries only `{FILES}` opens files"));
        }
    }
    let file = source.path.rsplit('/').next().unwrap_or_default();
    if ["util.rs", "utils.rs", "helpers.rs", "misc.rs"].contains(&file) {
        let message = "name the file after what it holds";
        findings.push(Finding::new(&source.path, 0, "names", message));
    }
    findings
}

/// Whether the tokens begin with `first :: second`, or `first :: { … second …`.
fn path(tokens: &[Token], first: &str, second: &str) -> bool {
    let [a, b, c, d, ..] = tokens else { return false };
    if a.text != first || b.text != ":" || c.text != ":" {
        return false;
    }
    if d.text != "{" {
        return d.text == second;
    }
    // Only names directly inside the braces belong to `first`.
    let mut depth = 0;
    for pair in tokens[3..].windows(2) {
        match pair[0].text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," => {}
            _ => continue,
        }
        if depth == 0 {
            return false;
        }
        if depth == 1 && pair[1].text == second {
            return true;
        }
    }
    false
}

fn prints(tokens: &[Token]) -> Option<&str> {
    let [name, bang, ..] = tokens else { return None };
    let name = name.text.as_str();
    (bang.text == "!" && ["print", "println", "eprint", "eprintln"].contains(&name)).then_some(name)
}

fn is_device_feature(tokens: &[Token]) -> bool {
    let [name, equals, value, ..] = tokens else { return false };
    name.text == "feature"
        && equals.text == "="
        && ["\"metal\"", "\"metal-sim\"", "\"cuda\""].contains(&value.text.as_str())
}

fn empty_name(tokens: &[Token]) -> Option<&str> {
    let [kind, name, ..] = tokens else { return None };
    let name = name.text.as_str();
    let kinds = ["struct", "enum", "trait", "type"];
    let empty = EMPTY_NAMES.iter().any(|ending| name.ends_with(ending));
    (kinds.contains(&kind.text.as_str()) && empty).then_some(name)
}

#[cfg(test)]
#[path = "borders_tests.rs"]
mod tests;
