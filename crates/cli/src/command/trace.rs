//! `--trace DIR`: the output of every node for a text, one file each, and an index.

pub mod diff;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use minfer_engine::{Engine, TracedValue};

/// Columns of the index.
const HEADER: &str = "file\tnode\top\toutput\ttype\tbytes";

/// Runs `tokens` and writes every value: raw little-endian bytes in `NNNN.bin`, and `index.tsv`
/// with a line for each (file, node, op, number of the output, type).
///
/// # Errors
/// The text does not fit one step, or a file cannot be written.
pub fn write(engine: &mut Engine, tokens: &[u32], folder: &Path) -> Result<()> {
    let context = || format!("writing the trace into {}", folder.display());
    fs::create_dir_all(folder).with_context(context)?;
    let mut index = format!("{HEADER}\n");
    let (mut count, mut failed) = (0, None);
    engine.trace(tokens, &mut |value: &TracedValue<'_>| {
        let file = format!("{count:04}.bin");
        let TracedValue { node, op, output, ty, bytes } = value;
        index += &format!("{file}\t{node}\t{op}\t{output}\t{ty}\t{}\n", bytes.len());
        if let (None, Err(error)) = (&failed, fs::write(folder.join(&file), bytes)) {
            failed = Some(error);
        }
        count += 1;
    })?;
    failed
        .map_or(Ok(()), Err)
        .and_then(|()| fs::write(folder.join("index.tsv"), index))
        .with_context(context)
}
