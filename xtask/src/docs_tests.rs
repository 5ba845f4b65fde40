use super::*;

#[test]
fn the_first_difference_is_named() {
    assert_eq!(first_difference("a\nb\n", "a\nc\n"), "line 2: expected `c`, found `b`");
    assert_eq!(first_difference("a\n", "a\nc\n"), "line 2: expected `c`, found the end");
    assert_eq!(first_difference("a\nb\n", "a\n"), "longer than it should be");
}
