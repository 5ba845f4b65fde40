//! Each limit at the last accepted value, one before, and one past. (The head's own is tested on
//! the cursor, the number of keys and tensors in the corpus too.)

use minfer_gguf::limits::*;
use minfer_gguf::{Error, File, LIMITS, Limit};

use crate::raw::*;

/// Builds a file for `limit - 1`, `limit` and `limit + 1`, and expects the last alone refused.
fn check(limit: Limit, build: impl Fn(u64) -> Vec<u8>) {
    for value in [limit.value - 1, limit.value] {
        let read = File::from_bytes(build(value));
        assert!(read.is_ok(), "{} at {value}: {}", limit.name, read.unwrap_err());
    }
    match File::from_bytes(build(limit.value + 1)) {
        Err(Error::Limit { limit: named, found, .. }) => {
            assert_eq!((named, found), (limit, limit.value + 1));
        }
        other => panic!("{} past its value: {:?}", limit.name, other.err()),
    }
}

#[test]
fn keys() {
    check(KEYS, |count| {
        let key = |index: u64| entry(format!("k{index}"), U8, [0]);
        let mut raw = Raw::of_rows(Vec::new(), Vec::new());
        raw.entries = (0..count).map(key).collect();
        raw.build()
    });
}

#[test]
fn key_bytes() {
    check(KEY_BYTES, |count| one_key(vec![b'k'; count as usize], U8, [0]));
}

#[test]
fn string_bytes() {
    check(STRING_BYTES, |count| one_key("k", STRING, text(vec![b'x'; count as usize])));
    check(STRING_BYTES, |count| {
        one_key("k", ARRAY, array(STRING, 1, &text(vec![b'x'; count as usize])))
    });
}

#[test]
fn array_elements() {
    check(ARRAY_ELEMENTS, |count| one_key("k", ARRAY, array(U8, count, &vec![0; count as usize])));
}

#[test]
fn all_elements() {
    check(ALL_ELEMENTS, |count| {
        let mut raw = Raw::of_rows(Vec::new(), Vec::new());
        let mut left = count;
        while left > 0 {
            let here = left.min(ARRAY_ELEMENTS.value);
            let value = array(U8, here, &vec![0; here as usize]);
            raw = raw.append(entry(format!("k{left}"), ARRAY, value));
            left -= here;
        }
        raw.build()
    });
}

#[test]
fn tensors() {
    check(TENSORS, |count| {
        let name = |index: u64| row(format!("t{index}"), &[0], 0, 0);
        Raw::of_rows((0..count).map(name).collect(), Vec::new()).build()
    });
}

#[test]
fn tensor_name_bytes() {
    check(TENSOR_NAME_BYTES, |count| {
        Raw::of_rows(vec![row(vec![b'n'; count as usize], &[1], 0, 0)], vec![0; 4]).build()
    });
}

#[test]
fn dimensions() {
    check(DIMENSIONS, |count| {
        Raw::of_rows(vec![row("a", &vec![1; count as usize], 0, 0)], vec![0; 4]).build()
    });
}

#[test]
fn the_table_is_whole_and_names_are_unique() {
    let mut names: Vec<_> = LIMITS.iter().map(|limit| limit.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), LIMITS.len());
    assert!(LIMITS.iter().all(|limit| limit.value > 0 && limit.doc.ends_with('.')));
    assert!(LIMITS.contains(&PARTS) && LIMITS.contains(&HEAD_BYTES));
}
