//! Values on the command line.

use super::*;

#[test]
fn lists_ranges_and_counts_become_bytes() -> Result<(), Failure> {
    assert_eq!(
        bytes("buffer", "f32:1, -2.5")?,
        [1.0f32.to_ne_bytes(), (-2.5f32).to_ne_bytes()].concat()
    );
    assert_eq!(bytes("buffer", "u16:3..5")?, [3u16.to_ne_bytes(), 4u16.to_ne_bytes()].concat());
    assert_eq!(bytes("buffer", "bool:true,false")?, [1, 0]);
    assert_eq!(bytes("buffer", "5")?, [0; 5]);
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() {
    for value in ["u8:256", "f33:1", "u8:0..300", "x", "", "u8:", "i64:-9223372036854775808..9"] {
        assert!(bytes("buffer", value).is_err(), "{value}");
    }
    assert!(indexed("buffer", "a=1").is_err());
    assert!(extent("grid", "1,2,3,4").is_err());
}

#[test]
fn extents_are_filled_up_with_ones() -> Result<(), Failure> {
    assert_eq!(extent("grid", "7")?, [7, 1, 1]);
    assert_eq!(extent("grid", "7, 2")?, [7, 2, 1]);
    Ok(())
}

#[test]
fn values_are_written_as_they_are_read() {
    assert_eq!(Scalar::F32.decode(&1.5f32.to_ne_bytes()).as_deref(), Some("1.5"));
    assert_eq!(Scalar::I16.decode(&(-3i16).to_ne_bytes()).as_deref(), Some("-3"));
    assert_eq!(Scalar::U32.decode(&[1]), None);
}
