//! Models that other programs have stored: read, never written.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::reference::Repo;
use super::{Found, Origin, cache, quant_tag};
use crate::flags::settings::variable;

/// Deepest folder that is looked into.
const DEPTH_MAX: usize = 4;
/// Largest manifest that is read.
const MANIFEST_MAX: u64 = 1 << 20;

/// Every model of other programs.
pub fn found() -> Vec<Found> {
    let home = variable("HOME").map(PathBuf::from).unwrap_or_default();
    let mut found = Vec::new();
    let llama = match variable("LLAMA_CACHE") {
        Some(folder) => vec![PathBuf::from(folder)],
        None => vec![home.join(".cache/llama.cpp"), home.join("Library/Caches/llama.cpp")],
    };
    for folder in llama {
        files(&folder, Origin::LlamaCpp, &mut found);
    }
    for folder in [".lmstudio/models", ".cache/lm-studio/models"] {
        files(&home.join(folder), Origin::LmStudio, &mut found);
    }
    let ollama =
        variable("OLLAMA_MODELS").map_or_else(|| home.join(".ollama/models"), PathBuf::from);
    manifests(&ollama, &mut found);
    found
}

/// Of models of other programs the one that a hub's name stands for: its repository's name is in
/// the path, and its tag in the file's.
pub fn find(repo: &Repo, found: &[Found]) -> Option<PathBuf> {
    let (user, name) = repo.name.split_once('/')?;
    let (folder, flat) = (format!("/{user}/{name}/"), format!("/{user}_{name}_"));
    let same = |found: &&Found| {
        let path = found.path.to_string_lossy().into_owned();
        path.contains(&folder) || path.contains(&flat)
    };
    let paths: Vec<&str> =
        found.iter().filter(same).filter_map(|found| found.path.to_str()).collect();
    quant_tag::choose(&paths, repo.quant.as_deref()).map(PathBuf::from)
}

/// Folders of GGUF files, named by their file.
fn files(folder: &Path, origin: Origin, found: &mut Vec<Found>) {
    let mut paths = Vec::new();
    cache::gguf_files(folder, DEPTH_MAX, &mut paths);
    for path in paths.into_iter().filter(|path| cache::is_first(&path.to_string_lossy())) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::metadata(&path).map_or(0, |data| data.len());
        found.push(Found { name, path, bytes, origin });
    }
}

/// Ollama: `manifests/HOST/OWNER/NAME/TAG` is JSON that names the blob of the model.
fn manifests(root: &Path, found: &mut Vec<Found>) {
    for host in cache::children(&root.join("manifests")) {
        for owner in cache::children(&host) {
            for model in cache::children(&owner) {
                for tag in cache::children(&model) {
                    found.extend(manifest(root, &owner, &model, &tag));
                }
            }
        }
    }
}

fn manifest(root: &Path, owner: &Path, model: &Path, tag: &Path) -> Option<Found> {
    if fs::metadata(tag).ok()?.len() > MANIFEST_MAX {
        return None;
    }
    let manifest: Value = serde_json::from_str(&fs::read_to_string(tag).ok()?).ok()?;
    let layers = manifest.get("layers")?.as_array()?;
    let is_model = |layer: &&Value| layer["mediaType"] == "application/vnd.ollama.image.model";
    let digest = layers.iter().find(is_model)?.get("digest")?.as_str()?;
    let hex = digest.strip_prefix("sha256:")?;
    // The digest becomes a path: it must be one and nothing else.
    if hex.is_empty() || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let path = root.join("blobs").join(format!("sha256-{hex}"));
    let bytes = fs::metadata(&path).ok()?.len();
    let last = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (owner, model, tag) = (last(owner), last(model), last(tag));
    let name = if owner == "library" {
        format!("{model}:{tag}")
    } else {
        format!("{owner}/{model}:{tag}")
    };
    Some(Found { name, path, bytes, origin: Origin::Ollama })
}
