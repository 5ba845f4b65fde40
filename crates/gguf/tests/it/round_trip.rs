//! What is written is read back, and what cannot be read is not written.

use minfer_gguf::{Array, Error, File, StringArray, Value, Writer};
use minfer_quant::Quant;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![scalar(), array().prop_map(Value::Array)]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u8>().prop_map(Value::U8),
        any::<i8>().prop_map(Value::I8),
        any::<u16>().prop_map(Value::U16),
        any::<i16>().prop_map(Value::I16),
        any::<u32>().prop_map(Value::U32),
        any::<i32>().prop_map(Value::I32),
        any::<u32>().prop_map(|bits| Value::F32(f32::from_bits(bits))),
        any::<bool>().prop_map(Value::Bool),
        vec(any::<u8>(), 0..20).prop_map(Value::String),
        any::<u64>().prop_map(Value::U64),
        any::<i64>().prop_map(Value::I64),
        any::<u64>().prop_map(|bits| Value::F64(f64::from_bits(bits))),
    ]
}

fn array() -> impl Strategy<Value = Array> {
    prop_oneof![
        vec(any::<u8>(), 0..9).prop_map(Array::U8),
        vec(any::<i8>(), 0..9).prop_map(Array::I8),
        vec(any::<u16>(), 0..9).prop_map(Array::U16),
        vec(any::<i16>(), 0..9).prop_map(Array::I16),
        vec(any::<u32>(), 0..9).prop_map(Array::U32),
        vec(any::<i32>(), 0..9).prop_map(Array::I32),
        vec(any::<f32>(), 0..9).prop_map(Array::F32),
        vec(any::<bool>(), 0..9).prop_map(Array::Bool),
        vec(any::<u64>(), 0..9).prop_map(Array::U64),
        vec(any::<i64>(), 0..9).prop_map(Array::I64),
        vec(any::<f64>(), 0..9).prop_map(Array::F64),
        vec(vec(any::<u8>(), 0..9), 0..9)
            .prop_map(|strings| Array::String(strings.iter().collect::<StringArray>())),
    ]
}

/// Format, blocks per row, further dimensions, and a byte to fill with.
fn tensor() -> impl Strategy<Value = (Quant, u64, Vec<u64>, u8)> {
    (prop::sample::select(Quant::ALL), 0..3u64, vec(0..4u64, 0..4), any::<u8>())
}

fn data(quant: Quant, blocks: u64, outer: &[u64], fill: u8) -> (Vec<u64>, Vec<u8>) {
    let dims = [&[blocks * quant.block_len() as u64], outer].concat();
    let all_blocks = blocks * outer.iter().product::<u64>();
    (dims, vec![fill; all_blocks as usize * quant.block_bytes()])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn writing_and_reading_are_inverse(
        version in 2..=3u32,
        alignment in prop::sample::select(vec![8u32, 16, 32, 64, 4096]),
        entries in btree_map("[a-z._]{1,12}", value(), 0..8),
        tensors in btree_map("[a-zé0-9.]{1,20}", tensor(), 0..8),
        part_bytes in 0..4000u64,
    ) {
        let mut writer = Writer::new().version(version).alignment(alignment);
        for (key, value) in &entries {
            writer = writer.kv(key, value.clone());
        }
        for (name, (quant, blocks, outer, fill)) in &tensors {
            let (dims, bytes) = data(*quant, *blocks, outer, *fill);
            writer = writer.tensor(name, *quant, dims, bytes);
        }
        let written = writer.to_bytes().unwrap();
        let file = File::from_bytes(written.clone()).unwrap();
        prop_assert_eq!(file.header().version, version);
        prop_assert_eq!(file.metadata().len(), entries.len() + 1);
        for (key, value) in &entries {
            let read = file.metadata().get(key);
            prop_assert_eq!(format!("{read:?}"), format!("{:?}", Some(value)));
        }
        for (name, (quant, blocks, outer, fill)) in &tensors {
            let (dims, bytes) = data(*quant, *blocks, outer, *fill);
            let tensor = file.tensor(name).unwrap();
            prop_assert_eq!((tensor.quant, &tensor.dims), (*quant, &dims));
            prop_assert_eq!(tensor.offset % u64::from(alignment), 0);
            prop_assert_eq!(file.bytes(tensor), bytes);
        }
        prop_assert_eq!(&Writer::copy_of(&file).to_bytes().unwrap(), &written);
        let set = File::from_parts(writer.to_split_bytes(part_bytes).unwrap()).unwrap();
        prop_assert_eq!(&Writer::copy_of(&set).to_bytes().unwrap(), &written);
    }

    #[test]
    fn any_bytes_behind_a_header_are_refused_or_usable(
        tensors in 0..3u64,
        keys in 0..3u64,
        rest in vec(prop_oneof![4 => 0..13u8, 1 => any::<u8>()], 0..200),
    ) {
        if let Ok(file) = File::from_bytes(crate::raw::header(3, tensors, keys, &rest)) {
            crate::child::use_everything(&file);
        }
    }
}

#[test]
fn data_may_be_written_as_it_is_made() {
    let whole = Writer::new().tensor("a", Quant::F32, [1000, 7], vec![3u8; 28_000]);
    let made = Writer::new().tensor_with("a", Quant::F32, [1000, 7], |out| {
        (0..28).try_for_each(|_| out.write_all(&[3; 1000]))
    });
    assert_eq!(made.to_bytes().unwrap(), whole.to_bytes().unwrap());
    let short = Writer::new().tensor_with("a", Quant::F32, [2], |out| out.write_all(&[0; 7]));
    let error = short.to_bytes().unwrap_err();
    assert!(matches!(error, Error::DataLength { expected: 8, found: 7, .. }), "{error}");
}

#[test]
fn a_key_set_again_keeps_its_place() {
    let bytes = Writer::new().kv("a", 1u8).kv("b", 2u8).kv("a", 3u8).to_bytes().unwrap();
    let file = File::from_bytes(bytes).unwrap();
    let entries: Vec<_> = file.metadata().iter().collect();
    assert_eq!(entries, [("a", &Value::U8(3)), ("b", &Value::U8(2))]);
}

#[test]
fn what_cannot_be_read_is_not_written() {
    let with = |quant, dims: &[u64], bytes: usize| {
        Writer::new().tensor("a", quant, dims, vec![0; bytes]).to_bytes()
    };
    assert!(matches!(with(Quant::F32, &[2], 7), Err(Error::DataLength { expected: 8, .. })));
    assert!(matches!(with(Quant::Q8_0, &[33], 34), Err(Error::RowLength { block: 32, .. })));
    assert!(matches!(with(Quant::F32, &[], 0), Err(Error::Dimensions { .. })));
    assert!(matches!(with(Quant::F32, &[1; 5], 4), Err(Error::Limit { .. })));
    let keyed = |key: &str| Writer::new().kv(key, 1u8).to_bytes();
    assert!(matches!(keyed("é"), Err(Error::Key { .. })));
    assert!(matches!(keyed(""), Err(Error::Key { .. })));
    for alignment in [0, 1, 4, 12, 1 << 21, u32::MAX] {
        let written = Writer::new().alignment(alignment).to_bytes();
        assert!(matches!(written, Err(Error::Alignment { .. })), "{alignment}");
    }
    assert!(matches!(Writer::new().version(1).to_bytes(), Err(Error::Version { found: 1 })));
    let tensor = |writer: Writer<'static>| writer.tensor("a", Quant::F32, [1], vec![0; 4]);
    let twice = tensor(tensor(Writer::new()));
    assert!(matches!(twice.to_bytes(), Err(Error::DuplicateTensor { .. })));
    assert!(matches!(twice.to_split_bytes(1), Err(Error::DuplicateTensor { .. })));
}
