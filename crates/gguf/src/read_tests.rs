use super::*;
use crate::limits::KEY_BYTES;

#[test]
fn reads_little_endian_values_in_order() {
    let bytes = [1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 9];
    let mut cursor = Cursor::new(&bytes);
    assert_eq!(cursor.u8("a").unwrap(), 1);
    assert_eq!(cursor.u16("b").unwrap(), 2);
    assert_eq!(cursor.u32("c").unwrap(), 3);
    assert_eq!(cursor.u64("d").unwrap(), 4);
    assert_eq!((cursor.offset(), cursor.left()), (15, 1));
    assert_eq!(cursor.take(1, "e").unwrap(), [9]);
}

#[test]
fn an_early_end_says_what_and_where() {
    let mut cursor = Cursor::new(&[0; 6]);
    cursor.u32("first").unwrap();
    let error = cursor.u32("second").unwrap_err();
    assert!(matches!(error, Error::Truncated { what: "second", offset: 4, needed: 4, left: 2 }));
}

#[test]
fn no_length_wraps() {
    let mut cursor = Cursor::new(&[0; 6]);
    cursor.u32("first").unwrap();
    for count in [u64::MAX, u64::MAX - 3, 1 << 63, 3] {
        assert!(matches!(cursor.take(count, "x"), Err(Error::Truncated { .. })));
    }
}

#[test]
fn the_head_ends_at_its_limit() {
    let limit = Limit { value: 10, ..HEAD_BYTES };
    let bytes = [0; 20];
    for (count, accepted) in [(9, true), (10, true), (11, false)] {
        let taken = Cursor::with_limit(&bytes, limit).take(count, "x");
        match taken {
            Ok(_) => assert!(accepted, "{count}"),
            Err(Error::Limit { found, .. }) => assert!(!accepted && found == count),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_string_is_checked_against_its_limit_before_the_bytes_left() {
    let bytes = 65_536u64.to_le_bytes();
    let error = Cursor::new(&bytes).string(KEY_BYTES, "key").unwrap_err();
    assert!(matches!(error, Error::Limit { found: 65_536, offset: 0, .. }));
}
