//! Unusual files that are right: each must load, with the values it holds.

use minfer_gguf::{File, Value};

use crate::child::use_everything;
use crate::raw::*;

fn opens(bytes: Vec<u8>) -> File {
    let file = File::from_bytes(bytes).unwrap_or_else(|error| panic!("{error}"));
    use_everything(&file);
    file
}

#[test]
fn the_base_model_is_read_whole() {
    let raw = Raw::base();
    let file = opens(raw.build());
    let metadata = file.metadata();
    assert_eq!((metadata.len(), file.tensors().len(), file.parts().len()), (18, 12, 1));
    assert_eq!(metadata.require_str("general.architecture").unwrap(), "llama");
    assert_eq!(metadata.require_u32("llama.context_length").unwrap(), 64);
    assert_eq!(metadata.require_f32("llama.attention.layer_norm_rms_epsilon").unwrap(), 1e-5);
    let tokens = metadata.require_strings("tokenizer.ggml.tokens").unwrap();
    assert!(tokens.iter().eq(vocabulary()));
    let scores = metadata.require_f32s("tokenizer.ggml.scores").unwrap();
    assert_eq!((scores.len(), scores[287]), (288, -287.0));
    let kinds = metadata.require_i32s("tokenizer.ggml.token_type").unwrap();
    assert_eq!((kinds.len(), &kinds[..4]), (288, &[2, 3, 3, 6][..]));
    let output = file.tensor("output.weight").unwrap();
    assert_eq!((output.dims.as_slice(), output.elements()), (&[32, 288][..], 9216));
    assert_eq!(output.offset, 7_712 + 78_208);
    assert_eq!(file.bytes(output), &raw.data[78_208..]);
    assert!(file.tensor("absent").is_none());
}

#[test]
fn version_2_is_read_like_version_3() {
    let file = opens(Raw { version: 2, ..Raw::base() }.build());
    assert_eq!((file.header().version, file.tensors().len()), (2, 12));
}

#[test]
fn bytes_after_the_last_tensor_are_ignored() {
    for count in [1, 31, 32, 4096] {
        opens([Raw::base().build(), vec![0xaa; count]].concat());
    }
}

#[test]
fn padding_after_the_last_tensor_may_be_missing() {
    let file = opens(Raw::of_rows(vec![row("a", &[3], 0, 0)], vec![7; 12]).build());
    assert_eq!(file.bytes(&file.tensors()[0]), [7; 12]);
}

#[test]
fn every_alignment_from_8_to_1_mib_is_read() {
    for shift in 3..=20 {
        let alignment = 1u32 << shift;
        let offset = u64::from(alignment.max(16));
        let rows = vec![row("a", &[4], 0, 0), row("b", &[1], 0, offset)];
        let mut data = vec![0; offset as usize + 4];
        data[offset as usize] = 9;
        let mut raw = Raw::of_rows(rows, data);
        raw.alignment = alignment as usize;
        let file = opens(raw.set(entry("general.alignment", U32, alignment.to_le_bytes())).build());
        assert_eq!(file.metadata().alignment().unwrap(), u64::from(alignment));
        assert_eq!(file.bytes(file.tensor("b").unwrap()), [9, 0, 0, 0]);
    }
}

#[test]
fn duplicate_and_empty_vocabulary_entries_are_kept() {
    let mut tokens = vocabulary();
    tokens[20] = tokens[21].clone();
    tokens[30] = Vec::new();
    let file = opens(Raw::base().set(tokens_entry(&tokens)).build());
    let read = file.metadata().require_strings("tokenizer.ggml.tokens").unwrap();
    assert!(read.iter().eq(&tokens));
}

#[test]
fn extra_keys_and_tensors_are_kept() {
    let mut raw = Raw::base().append(entry("someone.elses key", U8, [7])).append(entry(
        "zero.expert_count",
        U32,
        0u32.to_le_bytes(),
    ));
    raw.rows.push(row("rope_freqs.weight", &[8], 0, DATA_BYTES));
    raw.data.extend([1; 32]);
    let file = opens(raw.build());
    assert_eq!(file.metadata().get("someone.elses key"), Some(&Value::U8(7)));
    assert_eq!(file.metadata().require_u32("zero.expert_count").unwrap(), 0);
    assert_eq!(file.bytes(file.tensor("rope_freqs.weight").unwrap()), [1; 32]);
}

#[test]
fn tensors_of_no_values_take_no_place() {
    let rows = vec![
        row("none", &[0], 0, 0),
        row("experts", &[32, 64, 0], 8, 0),
        row("some", &[2], 0, 0),
        row("last", &[32, 0, 5, 1], 2, 32),
    ];
    let file = opens(Raw::of_rows(rows, vec![5; 8]).build());
    let bytes: Vec<_> = file.tensors().iter().map(|tensor| file.bytes(tensor).len()).collect();
    assert_eq!(bytes, [0, 0, 8, 0]);
}

#[test]
fn files_of_keys_alone_and_of_tensors_alone_are_read() {
    assert_eq!(opens(header(3, 0, 0, &[])).tensors().len(), 0);
    assert_eq!(opens(one_key("k", BOOL, [1])).metadata().bool("k").unwrap(), Some(true));
    let file = opens(Raw::of_rows(vec![row("a", &[8], 0, 0)], vec![0; 32]).build());
    assert!(file.metadata().is_empty());
}

#[test]
fn names_and_keys_may_be_as_long_as_the_format_allows() {
    let name = "é".repeat(31) + "n";
    assert_eq!(name.len(), 63);
    let mut raw = Raw::of_rows(vec![row(&name, &[8], 0, 0)], vec![0; 32]);
    let key = "k".repeat(65_535);
    raw = raw.append(entry(&key, U32, 3u32.to_le_bytes()));
    let file = opens(raw.build());
    assert!(file.tensor(&name).is_some());
    assert_eq!(file.metadata().u32(&key).unwrap(), Some(3));
}

#[test]
fn one_to_four_dimensions_are_read() {
    for rank in 1..=4 {
        let mut dims = vec![1; rank];
        dims[0] = 32;
        let file = opens(Raw::of_rows(vec![row("a", &dims, 8, 0)], vec![0; 34]).build());
        assert_eq!(file.tensors()[0].dims, dims);
    }
}
