use std::fs;
use std::path::Path;

use super::{compare, decoded};
use crate::command::trace::HEADER;
use minfer_quant::DType;

/// Writes a trace of f32 values.
fn trace(folder: &Path, values: &[(&str, &[f32])]) {
    fs::create_dir_all(folder).unwrap();
    let mut index = format!("{HEADER}\n");
    for (at, (node, numbers)) in values.iter().enumerate() {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let (cols, len) = (numbers.len() / 2, bytes.len());
        index += &format!("{at:04}.bin\t{node}\tadd\t0\tf32[T,{cols}]\t{len}\n");
        fs::write(folder.join(format!("{at:04}.bin")), bytes).unwrap();
    }
    fs::write(folder.join("index.tsv"), index).unwrap();
}

#[test]
fn the_first_node_that_differs_is_named_with_its_numbers() {
    let home = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| home.path().join(name));
    let same: &[f32] = &[1.0, -2.0, 3.0, 4.0];
    trace(&a, &[("first", same), ("only.a", same), ("second", same), ("third", same)]);
    let near: &[f32] = &[1.0, -2.0, 3.0, 4.002];
    let far: &[f32] = &[1.0, f32::NAN, 3.0, 4.0];
    trace(&b, &[("first", same), ("second", near), ("third", far)]);
    let report = compare([&a, &b], 1e-4).unwrap();
    assert_eq!(report.unmatched, [1, 0]);
    let parted = report.parts_at().unwrap();
    assert_eq!((parted.node.as_str(), parted.row, parted.column), ("second", 1, 1));
    assert!((parted.share - 0.0005).abs() < 1e-6, "{}", parted.share);
    assert!((parted.mean_difference - 0.0005).abs() < 1e-6, "{}", parted.mean_difference);
    let text = report.text(true);
    assert!(text.contains("first at second (add): row 1, column 1: 4e0 and 4.002e0"), "{text}");
    assert!(text.contains("3 values compared, 2 of them"), "{text}");
    let wide = compare([&a, &b], 1e-3).unwrap();
    assert_eq!(wide.parts_at().unwrap().node, "third", "a NaN is no number's neighbour");
    assert!(compare([&a, &a], 0.0).unwrap().parts_at().is_none());
}

#[test]
fn a_folder_that_is_no_trace_is_refused_with_what_is_wrong() {
    let home = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| home.path().join(name));
    let one: &[f32] = &[1.0, 2.0];
    trace(&a, &[("node", one)]);
    let refused = |index: &str, part: &str| {
        fs::create_dir_all(&b).unwrap();
        fs::write(b.join("index.tsv"), index).unwrap();
        let error = format!("{:#}", compare([&a, &b], 0.0).unwrap_err());
        assert!(error.contains(part), "{error}");
    };
    refused("file\tnode\n", "expected the columns");
    refused(&format!("{HEADER}\n0000.bin\tnode\n"), "line 2: expected 6 columns, found 2");
    refused(&format!("{HEADER}\n../x\tnode\tadd\t0\tf32[T,1]\t8\n"), "a plain file name");
    refused(&format!("{HEADER}\n0000.bin\tnode\tadd\t0\tf32[T,1]\tx\n"), "bytes \"x\"");
    refused(&format!("{HEADER}\n0000.bin\tother\tadd\t0\tf32[T,1]\t8\n"), "no node in common");
    fs::write(b.join("0000.bin"), [0; 12]).unwrap();
    refused(&format!("{HEADER}\n0000.bin\tnode\tadd\t0\tf32[T,1]\t8\n"), "expected 8 bytes");
    refused(&format!("{HEADER}\n0000.bin\tnode\tadd\t0\tf32[T,3]\t12\n"), "of one text?");
    refused(&format!("{HEADER}\n0000.bin\tnode\tadd\t0\tf33[T,3]\t12\n"), "such as f32[T,64]");
    refused(&format!("{HEADER}\n0000.bin\tnode\tadd\t0\tf32[T,2]\t12\n"), "not whole rows of 8");
    let error = format!("{:#}", compare([&a, &home.path().join("none")], 0.0).unwrap_err());
    assert!(error.contains("a folder that --trace wrote"), "{error}");
}

#[test]
fn quantized_rows_are_read_as_the_numbers_they_stand_for() {
    let mut row: Vec<u8> = (0..32).map(|value: i8| (value - 16).cast_unsigned()).collect();
    row.extend(0.5_f32.to_le_bytes());
    row.extend(0_i32.to_le_bytes());
    let numbers = decoded(DType::Q8_0, 32, &row).unwrap();
    assert_eq!(numbers[..3], [-8.0, -7.5, -7.0]);
    assert_eq!(numbers.len(), 32);
    let halves = [0x00, 0x3C, 0x00, 0xC0];
    assert_eq!(decoded(DType::F16, 2, &halves).unwrap(), [1.0, -2.0]);
    assert_eq!(decoded(DType::BF16, 2, &[0x80, 0x3F, 0x00, 0xC0]).unwrap(), [1.0, -2.0]);
    assert_eq!(decoded(DType::I32, 1, &[0xFF; 4]).unwrap(), [-1.0]);
}
