//! Lines as they come from a pipe.

use super::{LINE_MAX, Line, read};

#[test]
fn a_line_that_cannot_be_taken_leaves_the_next_one_whole() {
    let long = vec![b'a'; LINE_MAX as usize + 10];
    let input = [b"one\r\n\xff\xfe two\n", &long[..], b"\nthree"].concat();
    let mut input = input.as_slice();
    assert_eq!(read(&mut input).unwrap(), Line::Text("one".into()));
    let Line::Refused(why) = read(&mut input).unwrap() else { panic!("not UTF-8") };
    assert!(why.contains("UTF-8") && why.ends_with("offset 0"), "{why}");
    let Line::Refused(why) = read(&mut input).unwrap() else { panic!("too long") };
    assert!(why.contains("1048576"), "{why}");
    assert_eq!(read(&mut input).unwrap(), Line::Text("three".into()));
    assert_eq!(read(&mut input).unwrap(), Line::End);
}
