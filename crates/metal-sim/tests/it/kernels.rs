//! What tests with kernels share: compiled files, memory with numbers in it.

use std::path::Path;
use std::sync::Arc;

use metal_sim::{Library, Memory, Mode, Source};

use crate::require;

/// The text of a file of `tests`.
pub fn text(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    std::fs::read_to_string(path).expect("a file of the tests")
}

/// A file of `tests`, compiled; none where there is no compiler.
pub fn compile(file: &str, mode: Mode) -> Option<Library> {
    let source = Source { name: file.to_owned(), text: text(file) };
    match require()?.compile(&source, mode) {
        Ok(library) => Some(library),
        Err(error) => panic!("{error}"),
    }
}

/// Memory with these numbers.
pub fn floats(values: &[f32]) -> Arc<Memory> {
    bytes(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

/// Memory with these bytes.
pub fn bytes(values: &[u8]) -> Arc<Memory> {
    Memory::of(values).expect("memory")
}

/// The numbers in memory.
pub fn read(memory: &Memory) -> Vec<f32> {
    let bytes = memory.read();
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four"))).collect()
}
