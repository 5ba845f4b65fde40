//! Files under a mapping that change, vanish or shrink; and the other ways to hold bytes.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use minfer_gguf::{Error, File, OpenOptions, Writer};
use minfer_quant::Quant;
use tempfile::TempDir;

use crate::child;

/// A model of one tensor of `bytes` bytes, all 7.
fn model(directory: &TempDir, name: &str, bytes: usize) -> PathBuf {
    let path = directory.path().join(name);
    let data = vec![7u8; bytes];
    let writer = Writer::new().tensor("a", Quant::F32, [bytes as u64 / 4], data);
    fs::write(&path, writer.to_bytes().unwrap()).unwrap();
    path
}

fn truncate(path: &PathBuf, bytes: u64) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

#[test]
fn a_truncated_mapping_reads_zeros_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let (path, other) = (model(&directory, "a", 4 << 20), model(&directory, "b", 4 << 20));
    let (file, other) = (File::open(&path).unwrap(), File::open(other).unwrap());
    truncate(&path, 8192);
    assert!(!file.faulted(), "no lost page was read yet");
    assert!(file.parts()[0].changed().unwrap());
    let bytes = file.bytes(&file.tensors()[0]);
    let sum = |range: &[u8]| range.iter().map(|&byte| u64::from(byte)).sum::<u64>();
    let kept = 8192 - file.tensors()[0].offset;
    assert_eq!(bytes[3 << 20], 0);
    assert!(file.faulted());
    assert_eq!(sum(bytes), 7 * kept);
    assert!(!other.faulted());
    assert_eq!(sum(other.bytes(&other.tensors()[0])), 7 * (4 << 20));
    let error = File::open(&path).unwrap_err();
    assert!(matches!(error.root(), Error::TensorRange { .. }), "{error}");
}

#[test]
fn threads_that_read_lost_pages_backwards_all_live() {
    let directory = tempfile::tempdir().unwrap();
    let path = model(&directory, "a", 8 << 20);
    let file = File::open(&path).unwrap();
    truncate(&path, 4096);
    std::thread::scope(|scope| {
        for start in 0..4 {
            let bytes = file.bytes(&file.tensors()[0]);
            scope.spawn(move || {
                let lost = (8192 + start..bytes.len()).rev().step_by(1021);
                assert!(lost.into_iter().all(|place| bytes[place] == 0));
            });
        }
    });
    assert!(file.faulted());
}

#[test]
fn a_dropped_mapping_hands_its_place_on_clean() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..50 {
        let path = model(&directory, &format!("m{round}"), 1 << 16);
        let file = File::open(&path).unwrap();
        assert!(!file.faulted(), "round {round}");
        truncate(&path, 4096);
        assert_eq!(file.bytes(&file.tensors()[0])[40_000], 0);
        assert!(file.faulted(), "round {round}");
    }
}

#[test]
fn a_sigbus_of_another_cause_still_ends_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let outcome = child::run("signal", &model(&directory, "a", 4096));
    assert_eq!(outcome.status.signal(), Some(libc::SIGBUS), "{}", outcome.verdict);
}

#[test]
fn bytes_read_into_memory_do_not_depend_on_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = model(&directory, "a", 1 << 20);
    let file = File::open_with(&path, OpenOptions { mmap: false, mlock: false }).unwrap();
    truncate(&path, 0);
    assert!(file.bytes(&file.tensors()[0]).iter().all(|&byte| byte == 7));
    let part = &file.parts()[0];
    assert!(!part.is_mapped() && !file.faulted() && !part.changed().unwrap());
    part.release(0..u64::MAX).unwrap();
    assert!(file.bytes(&file.tensors()[0]).iter().all(|&byte| byte == 7));
}

#[test]
fn locked_files_read_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = model(&directory, "a", 4096);
    for mmap in [true, false] {
        let file = File::open_with(&path, OpenOptions { mmap, mlock: true }).unwrap();
        assert!(file.bytes(&file.tensors()[0]).iter().all(|&byte| byte == 7));
    }
}

#[test]
fn released_pages_leave_memory() {
    let directory = tempfile::tempdir().unwrap();
    let outcome = child::run("release", &model(&directory, "a", 32 << 20));
    assert!(outcome.status.success(), "{}", outcome.status);
    let bytes: u64 = outcome.verdict.strip_prefix("gave back ").unwrap().parse().unwrap();
    assert!(bytes > 31 << 20 || !cfg!(target_os = "linux"), "{bytes} bytes");
}

#[test]
fn any_range_can_be_released_and_prefetched() {
    let directory = tempfile::tempdir().unwrap();
    let file = File::open(model(&directory, "a", 1 << 20)).unwrap();
    let part = &file.parts()[0];
    assert!(part.is_mapped());
    for range in [5..5, 5..6, 0..1, 4096..8192, 9..u64::MAX, u64::MAX..u64::MAX, 0..u64::MAX] {
        part.release(range.clone()).unwrap();
        part.prefetch(range).unwrap();
        assert!(file.bytes(&file.tensors()[0]).iter().all(|&byte| byte == 7));
    }
    assert!(!file.faulted() && !part.changed().unwrap());
}

#[test]
fn what_is_no_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = File::open(directory.path()).unwrap_err();
    assert!(matches!(error.root(), Error::NotAFile), "{error}");
    let absent = directory.path().join("absent.gguf");
    let error = File::open(&absent).unwrap_err();
    assert!(matches!(error.root(), Error::Io { operation: "open", .. }), "{error}");
    assert!(error.to_string().contains("absent.gguf"), "{error}");
    let error = File::open("/dev/null").unwrap_err();
    assert!(matches!(error.root(), Error::NotAFile), "{error}");
}
