use std::collections::HashSet;

use super::{byte_of, char_of};

#[test]
fn every_byte_has_a_printable_character_of_its_own() {
    let characters: HashSet<char> = (0..=255).map(char_of).collect();
    assert_eq!(characters.len(), 256);
    assert!(characters.iter().all(|c| !c.is_control() && !c.is_whitespace()));
    for byte in 0..=255 {
        assert_eq!(byte_of(char_of(byte)), Some(byte));
    }
}

#[test]
fn known_characters() {
    assert_eq!(char_of(b' '), 'Ġ');
    assert_eq!(char_of(b'\n'), 'Ċ');
    assert_eq!(char_of(b'a'), 'a');
    assert_eq!(char_of(0xFF), 'ÿ');
}

#[test]
fn other_characters_stand_for_nothing() {
    for character in [' ', '\u{AD}', '\u{144}', '▁', '\u{10FFFF}'] {
        assert_eq!(byte_of(character), None, "{character:?}");
    }
}
