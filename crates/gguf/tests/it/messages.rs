//! What an error says: what was expected, what was found, where, and what to do.

use minfer_gguf::File;

use crate::raw::*;

fn message(bytes: Vec<u8>) -> String {
    File::from_bytes(bytes).unwrap_err().to_string()
}

#[track_caller]
fn check(bytes: Vec<u8>, parts: &[&str]) {
    let message = message(bytes);
    for part in parts {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

#[test]
fn a_format_that_is_not_known_is_refused_by_name() {
    let typed = |type_id| Raw::base().last_row(|row| row.type_id = type_id).build();
    check(typed(31), &["\"output.weight\"", "type 31 (Q4_0_4_4)", "known: f32 f16", "q6_k"]);
    check(typed(9), &["type 9 (Q8_1)"]);
    check(typed(200), &["type 200 (unknown)"]);
}

#[test]
fn a_file_that_ends_early_says_where() {
    let file = Raw::base().build();
    let cut = |end: usize| file[..end].to_vec();
    check(cut(0), &["the magic number at byte 0 needs 4 bytes, 0 are left"]);
    check(cut(4), &["the version at byte 4 needs 4 bytes", "download may be incomplete"]);
    check(cut(100), &["a metadata value at byte 98 needs 4 bytes, 2 are left"]);
    check(cut(100_000), &["\"output.weight\"", "the file has 100000", "download"]);
}

#[test]
fn a_file_of_another_kind_is_named() {
    check(b"PK\x03\x04".to_vec(), &["not a GGUF file", "50, 4b, 03, 04"]);
    check(header(1, 0, 0, &[]), &["version 1 is not supported", "2 and 3"]);
    let big_endian = header(3u32.swap_bytes(), 0, 0, &[]);
    check(big_endian, &["big-endian GGUF (version 3)", "convert"]);
}

#[test]
fn a_limit_is_named_with_its_value() {
    check(header(3, 0, 65_537, &[]), &["65537 keys at byte 16", "limit KEYS is 65536"]);
}

#[test]
fn contradictions_name_the_key_or_tensor() {
    let twice = Raw::base().append(entry("llama.block_count", U32, [2, 0, 0, 0])).build();
    check(twice, &["\"llama.block_count\" appears twice"]);
    let moved = Raw::base().row(1, |row| row.offset += 32).build();
    check(moved, &["\"blk.0.attn_norm.weight\"", "offset 36896, expected 36864"]);
    let ragged = Raw::base().row(1, |row| row.type_id = 12).build();
    check(ragged, &["rows of 32 values", "multiple of 256", "q4_k"]);
}
