//! The file format: any bytes as one file, and as a split set of two.

use minfer_gguf::{Error, File, Metadata, Writer};

use crate::Outcome;

pub(crate) const DICTIONARY: &[&str] = &[
    "GGUF",
    "general.alignment",
    "general.architecture",
    "split.no",
    "split.count",
    "split.tensors.count",
];

/// Elements of a tensor that is decoded; larger ones are only looked at.
const DECODED_MAX: u64 = 1 << 16;

/// Reads a file, everything in it by every type, and writes it again. The last two bytes say where
/// the input is cut in two for the split set.
pub fn gguf(data: &[u8]) -> Outcome {
    let (bytes, cut) = data.split_at(data.len().saturating_sub(2));
    let cut = cut.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte));
    let (first, second) = bytes.split_at(cut.min(bytes.len()));
    if let Ok(file) = File::from_parts(vec![first.to_vec(), second.to_vec()]) {
        read(&file);
    }
    match File::from_bytes(data.to_vec()) {
        Ok(file) => {
            read(&file);
            write_again(&file);
            Outcome::sizes(&[file.metadata().len(), file.tensors().len()])
        }
        Err(error) => Outcome::error(&error),
    }
}

fn read(file: &File) {
    for (key, value) in file.metadata().iter() {
        read_typed(file.metadata(), key);
        let _ = (value.integer(), value.text());
        if let Some(array) = value.array() {
            let _ = array.integers();
        }
    }
    for tensor in file.tensors() {
        let bytes = file.bytes(tensor);
        assert_eq!(bytes.len() as u64, tensor.bytes, "the bytes of {tensor:?}");
        assert!(file.tensor(&tensor.name).is_some(), "{tensor:?} by its name");
        if tensor.elements() <= DECODED_MAX {
            let mut values = vec![0.0; tensor.elements() as usize];
            tensor.quant.decode(bytes, &mut values).expect("a checked tensor decodes");
        }
    }
    assert!(!file.faulted(), "memory cannot fault");
}

/// Every typed getter. An error is fine; that a value has a form that it was not stored in is not.
fn read_typed(metadata: &Metadata, key: &str) {
    let found = [
        metadata.u32(key).is_ok(),
        metadata.u64(key).is_ok(),
        metadata.i32(key).is_ok(),
        metadata.f32(key).is_ok(),
        metadata.bool(key).is_ok(),
        metadata.str(key).is_ok(),
        metadata.strings(key).is_ok(),
        metadata.f32s(key).is_ok(),
        metadata.i32s(key).is_ok(),
        metadata.u32s(key).is_ok(),
        metadata.bools(key).is_ok(),
    ];
    let required = [
        metadata.require_u32(key).is_ok(),
        metadata.require_u64(key).is_ok(),
        metadata.require_f32(key).is_ok(),
        metadata.require_bool(key).is_ok(),
        metadata.require_str(key).is_ok(),
        metadata.require_strings(key).is_ok(),
        metadata.require_f32s(key).is_ok(),
        metadata.require_i32s(key).is_ok(),
    ];
    assert_eq!([0, 1, 3, 4, 5, 6, 7, 8].map(|getter| found[getter]), required, "of `{key}`");
}

/// What was read can be written, and reads as the same; the keys of a split set go.
fn write_again(file: &File) {
    let bytes = match Writer::copy_of(file).to_bytes() {
        Ok(bytes) => bytes,
        Err(error) => panic!("a file that was read cannot be written: {error}"),
    };
    let again = File::from_bytes(bytes).map_err(|error: Error| error.to_string());
    let again = again.expect("a written file is read");
    let keys = |file: &File| -> Vec<String> {
        let whole = file.metadata().iter().filter(|(key, _)| !key.starts_with("split."));
        whole.map(|(key, value)| format!("{key} {value:?}")).collect()
    };
    assert_eq!(keys(file), keys(&again));
    assert_eq!(file.tensors().len(), again.tensors().len());
    for (one, other) in file.tensors().iter().zip(again.tensors()) {
        assert_eq!((&one.name, one.quant, &one.dims), (&other.name, other.quant, &other.dims));
        assert_eq!(file.bytes(one), again.bytes(other), "the data of {}", one.name);
    }
}
