//! How a model's file lies on disk and in memory.

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom, Write as _};

use minfer_conformance::tiny_file;
use minfer_gguf::{File, Writer};
use minfer_quant::Quant;

use crate::tiny::{assert_near, engine, expected, logits};

const TINY: (&str, Quant) = ("gemma3", Quant::Q4_K);

fn tiny() -> Vec<u8> {
    tiny_file(TINY.0, TINY.1)
}

#[test]
fn three_parts_give_the_same_numbers() {
    let whole = File::from_bytes(tiny()).unwrap();
    let expected = expected(File::from_bytes(tiny()).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let bytes: u64 = whole.tensors().iter().map(|tensor| tensor.bytes).sum();
    let writer = Writer::copy_of(&whole);
    let parts = writer.write_split(folder.path().join("tiny"), bytes.div_ceil(3) + 1).unwrap();
    assert!(parts.len() >= 3, "{parts:?}");
    // On a page in place; anywhere else in a copy.
    let mapped = File::open(&parts[0]).unwrap();
    assert_near(&expected, &logits(&mut engine(mapped, |_| ())), "mapped");
    let parts = parts.iter().map(|part| std::fs::read(part).unwrap()).collect();
    let read = File::from_parts(parts).unwrap();
    assert_near(&expected, &logits(&mut engine(read, |_| ())), "in memory");
}

#[test]
fn tensors_that_begin_at_multiples_of_eight_are_read_in_place() {
    let whole = File::from_bytes(tiny()).unwrap();
    let expected = expected(File::from_bytes(tiny()).unwrap());
    let path = tempfile::NamedTempFile::new().unwrap();
    // A name of an odd length moves the tensors away from larger multiples.
    let mut moved = 0;
    for name in ["a", "ab", "abcdefgh", "abcdefghijklmnop"] {
        let writer = Writer::copy_of(&whole).alignment(8).kv(name, 1u32);
        let bytes = writer.to_bytes().unwrap();
        std::fs::write(path.path(), bytes).unwrap();
        let file = File::open(path.path()).unwrap();
        moved += file.tensors().iter().filter(|tensor| tensor.offset % 16 == 8).count();
        assert_near(&expected, &logits(&mut engine(file, |_| ())), name);
    }
    assert!(moved > 0, "no tensor began at a multiple of eight alone");
}

#[test]
fn a_mapped_file_is_read_in_place() {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), tiny()).unwrap();
    let file = File::open(path.path()).unwrap();
    let tensor = file.tensor("token_embd.weight").unwrap();
    let (offset, bytes) = (tensor.offset, tensor.bytes as usize);
    let mut engine = engine(file, |_| ());
    let before = logits(&mut engine);
    // Whoever reads the file's own pages sees what is written into it.
    let mut on_disk = OpenOptions::new().write(true).open(path.path()).unwrap();
    on_disk.seek(SeekFrom::Start(offset)).unwrap();
    on_disk.write_all(&vec![0; bytes]).unwrap();
    let after = logits(&mut engine);
    assert_ne!(before, after);
}
