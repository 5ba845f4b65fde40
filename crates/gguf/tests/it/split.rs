//! Split sets: opened through any part, refused when parts are missing or disagree.

use std::fs;
use std::path::PathBuf;

use minfer_gguf::{Error, File, Writer};
use minfer_quant::Quant;

fn writer() -> Writer<'static> {
    let mut writer = Writer::new().kv("general.architecture", "llama").alignment(64);
    for index in 0..7u8 {
        let bytes = vec![index; 4 * (index as usize + 1)];
        writer = writer.tensor(format!("t{index}"), Quant::F32, [u64::from(index) + 1], bytes);
    }
    writer
}

fn check(file: &File, parts: usize) {
    assert_eq!((file.parts().len(), file.tensors().len()), (parts, 7));
    assert_eq!(file.metadata().require_str("general.architecture").unwrap(), "llama");
    for (index, tensor) in (0..).zip(file.tensors()) {
        assert_eq!(tensor.name, format!("t{index}"));
        assert!(file.bytes(tensor).iter().all(|&byte| byte == index));
        assert_eq!(file.bytes(tensor).len(), 4 * (index as usize + 1));
    }
}

fn on_disk(directory: &tempfile::TempDir) -> Vec<PathBuf> {
    let paths = writer().write_split(directory.path().join("model"), 40).unwrap();
    assert!(paths[0].ends_with(format!("model-00001-of-{:05}.gguf", paths.len())));
    assert!(paths.len() >= 3);
    paths
}

#[test]
fn any_part_opens_the_set() {
    let directory = tempfile::tempdir().unwrap();
    let paths = on_disk(&directory);
    for path in &paths {
        let file = File::open(path).unwrap();
        check(&file, paths.len());
        assert_eq!(file.parts()[1].path(), Some(paths[1].as_path()));
    }
}

#[test]
fn a_merged_set_equals_the_whole_model() {
    for part_bytes in [0, 12, 40, 1000] {
        let parts = writer().to_split_bytes(part_bytes).unwrap();
        let count = parts.len();
        let file = File::from_parts(parts).unwrap();
        check(&file, count);
        let merged = Writer::copy_of(&file).to_bytes().unwrap();
        assert_eq!(merged, writer().to_bytes().unwrap());
    }
}

#[test]
fn a_missing_part_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let paths = on_disk(&directory);
    fs::remove_file(&paths[1]).unwrap();
    for open in [&paths[0], &paths[2]] {
        let error = File::open(open).unwrap_err();
        let Error::SplitMissing { part: 2, path, .. } = error.root() else { panic!("{error}") };
        assert_eq!(path, &paths[1]);
    }
}

#[test]
fn renamed_parts_are_told_how_names_must_end() {
    let directory = tempfile::tempdir().unwrap();
    let paths = on_disk(&directory);
    let count = paths.len();
    for name in ["model.gguf", "model-00002-of-00009.gguf", "model-00001-of-00002.gguf"] {
        let renamed = directory.path().join(name);
        fs::copy(&paths[1], &renamed).unwrap();
        let error = File::open(&renamed).unwrap_err();
        let Error::SplitName { part: 2, expected, .. } = error.root() else { panic!("{error}") };
        assert_eq!(expected, &format!("-00002-of-{count:05}.gguf"));
    }
}

#[test]
fn parts_that_disagree_are_refused() {
    let parts = writer().to_split_bytes(40).unwrap();
    let refused = |parts: Vec<Vec<u8>>| match File::from_parts(parts).unwrap_err() {
        Error::SplitMismatch { part, key, .. } => (part, key),
        other => panic!("{other}"),
    };
    let mut swapped = parts.clone();
    swapped.swap(0, 1);
    assert_eq!(refused(swapped), (1, "split.no"));
    assert_eq!(refused(parts[..2].to_vec()), (1, "split.count"));
    assert_eq!(refused(vec![parts[0].clone()]), (1, "split.count"));
    let mut foreign = parts.clone();
    foreign[1] = writer().to_bytes().unwrap();
    assert_eq!(refused(foreign), (1, "split.tensors.count"));
    let mut repeated = parts.clone();
    repeated[2] = repeated[1].clone();
    assert_eq!(refused(repeated), (3, "split.no"));
}

#[test]
fn a_set_names_each_tensor_once() {
    let place = |number: u16, name: &'static str| {
        Writer::new()
            .kv("split.no", number)
            .kv("split.count", 2u16)
            .kv("split.tensors.count", 2i32)
            .tensor(name, Quant::F32, [1], vec![0; 4])
            .to_bytes()
            .unwrap()
    };
    assert!(File::from_parts(vec![place(0, "a"), place(1, "b")]).is_ok());
    let error = File::from_parts(vec![place(0, "a"), place(1, "a")]).unwrap_err();
    assert!(matches!(&error, Error::DuplicateTensor { name } if name == "a"), "{error}");
}

#[test]
fn no_parts_are_no_model() {
    assert!(matches!(File::from_parts(Vec::new()), Err(Error::Truncated { .. })));
}

#[test]
fn a_broken_part_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let paths = on_disk(&directory);
    fs::write(&paths[2], b"GGUF").unwrap();
    let error = File::open(&paths[0]).unwrap_err();
    assert!(error.to_string().starts_with(&paths[2].display().to_string()), "{error}");
    assert!(matches!(error.root(), Error::Truncated { .. }));
}

#[test]
fn a_set_has_at_most_1024_parts() {
    let many = |count: u64| {
        let add = |writer: Writer<'static>, index| {
            writer.tensor(format!("t{index}"), Quant::F32, [1], vec![0; 4])
        };
        (0..count).fold(Writer::new(), add).to_split_bytes(1)
    };
    let parts = many(1024).unwrap();
    assert_eq!(File::from_parts(parts).unwrap().parts().len(), 1024);
    assert!(matches!(many(1025), Err(Error::Limit { found: 1025, .. })));
}
