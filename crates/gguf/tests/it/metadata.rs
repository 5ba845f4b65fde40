//! Typed access: what fits is converted, what does not is an error that names key and types.

use minfer_gguf::{Array, Error, File, StringArray, Value, ValueType, Writer};

fn file(key: &str, value: impl Into<Value>) -> File {
    File::from_bytes(Writer::new().kv(key, value).to_bytes().unwrap()).unwrap()
}

#[test]
fn integers_of_any_width_are_accepted_where_they_fit() {
    let fits = |value: Value| file("k", value).metadata().u32("k").unwrap();
    for value in [7u8.into(), 7i8.into(), 7u16.into(), 7i16.into(), 7i32.into()] {
        assert_eq!(fits(value), Some(7));
    }
    assert_eq!(fits(7u64.into()), Some(7));
    assert_eq!(fits(i64::from(u32::MAX).into()), Some(u32::MAX));
    for value in [Value::I8(-1), Value::U64(1 << 32), Value::I64(i64::MIN)] {
        let error = file("k", value).metadata().u32("k").unwrap_err();
        assert!(matches!(error, Error::OutOfRange { expected: "u32", .. }), "{error}");
    }
    assert_eq!(file("k", u64::MAX).metadata().u64("k").unwrap(), Some(u64::MAX));
    assert_eq!(file("k", i32::MIN).metadata().i32("k").unwrap(), Some(i32::MIN));
}

#[test]
fn a_wrong_type_names_key_and_types() {
    let error = file("a.b", "text").metadata().u32("a.b").unwrap_err();
    assert_eq!(error.to_string(), "metadata key \"a.b\" is of type string, expected u32");
    let error = file("a.b", vec![1u8]).metadata().f32s("a.b").unwrap_err();
    assert_eq!(error.to_string(), "metadata key \"a.b\" is an array of u8, expected array of f32");
    let found = file("k", 1.5f32).metadata().u32("k").unwrap_err();
    assert!(matches!(found, Error::WrongType { found: ValueType::F32, array: false, .. }));
    assert!(file("k", 1u32).metadata().f32("k").is_err());
    assert!(file("k", 1u8).metadata().bool("k").is_err());
    assert!(file("k", vec!["a"]).metadata().str("k").is_err());
    assert!(file("k", "a").metadata().strings("k").is_err());
    assert!(file("k", vec![1.0f32]).metadata().i32s("k").is_err());
    assert!(file("k", vec![1u8]).metadata().bools("k").is_err());
}

#[test]
fn a_missing_key_is_none_or_an_error_that_names_it() {
    let file = file("k", 1u32);
    let metadata = file.metadata();
    assert_eq!(metadata.u32("absent").unwrap(), None);
    assert_eq!(metadata.i32s("absent").unwrap(), None);
    let errors = [
        metadata.require_u32("absent").unwrap_err(),
        metadata.require_u64("absent").unwrap_err(),
        metadata.require_f32("absent").unwrap_err(),
        metadata.require_bool("absent").unwrap_err(),
        metadata.require_str("absent").unwrap_err(),
        metadata.require_strings("absent").unwrap_err(),
        metadata.require_f32s("absent").unwrap_err(),
        metadata.require_i32s("absent").unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), "metadata key \"absent\" is missing");
    }
}

#[test]
fn floats_keep_their_bits_and_doubles_are_rounded() {
    let nan = f32::from_bits(0x7fc0_1234);
    let read = file("k", nan).metadata().require_f32("k").unwrap();
    assert_eq!(read.to_bits(), nan.to_bits());
    assert_eq!(file("k", 0.1f64).metadata().require_f32("k").unwrap(), 0.1f32);
}

#[test]
fn integer_arrays_of_any_width_are_converted() {
    let read = |value: Value| file("k", value).metadata().require_i32s("k").unwrap().into_owned();
    assert_eq!(read(vec![1i8, -2].into()), [1, -2]);
    assert_eq!(read(vec![1u16, 2].into()), [1, 2]);
    assert_eq!(read(vec![1i32, -2].into()), [1, -2]);
    assert_eq!(read(vec![1u64, 2].into()), [1, 2]);
    let too_large = file("k", vec![u32::MAX]);
    assert!(matches!(too_large.metadata().i32s("k"), Err(Error::OutOfRange { .. })));
    assert_eq!(too_large.metadata().u32s("k").unwrap().unwrap()[..], [u32::MAX]);
}

#[test]
fn text_must_be_utf8_where_text_is_asked_for() {
    let file = file("k", Value::String(b"ok\xff".to_vec()));
    let error = file.metadata().str("k").unwrap_err();
    assert!(matches!(error, Error::Utf8 { valid: 2, .. }), "{error}");
    assert_eq!(file.metadata().get("k").unwrap().text().unwrap(), "ok\u{fffd}");
}

#[test]
fn string_arrays_answer_by_index_and_in_order() {
    let strings: StringArray = ["", "a", "", "bcd"].into_iter().collect();
    assert_eq!(strings.len(), 4);
    assert_eq!(strings.get(0), Some(&b""[..]));
    assert_eq!(strings.get(3), Some(&b"bcd"[..]));
    assert_eq!(strings.get(4), None);
    assert_eq!(strings.get(usize::MAX), None);
    assert_eq!(strings.texts().collect::<Vec<_>>(), ["", "a", "", "bcd"]);
    assert!(StringArray::default().is_empty());
}

#[test]
fn type_ids_are_those_of_the_format() {
    for (id, value_type) in (0..).zip(ValueType::ALL) {
        assert_eq!(ValueType::from_id(id), Some(value_type));
        assert_eq!(value_type.id(), id);
    }
    assert_eq!((ValueType::Array.id(), ValueType::F64.id()), (9, 12));
    assert_eq!(ValueType::from_id(13), None);
    assert_eq!(Array::Bool(vec![true]).element_type(), ValueType::Bool);
}

#[test]
fn values_are_printed_short() {
    assert_eq!(Value::from(-3i8).to_string(), "-3");
    assert_eq!(Value::from("text").to_string(), "text");
    assert_eq!(Value::from(vec!["a\n", "b"]).to_string(), r#"string[2] = ["a\n", "b"]"#);
    let long = Value::from((0..288u32).collect::<Vec<_>>());
    assert_eq!(long.to_string(), "u32[288] = [0, 1, 2, 3, 4, 5, …]");
}
