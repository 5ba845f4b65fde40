use super::*;

fn control() -> ControlTexts {
    ControlTexts::new(["<|end|>", "<|end|>more", "[INST]", "<｜end▁of｜>", ""])
}

#[test]
fn occurrences_are_the_longest_at_each_position() {
    let found: Vec<_> = control().occurrences("a<|end|>b<|end|>more[INST]<|end").collect();
    assert_eq!(found, [1..8, 9..20, 20..26]);
    assert!(ControlTexts::default().is_empty());
    assert_eq!(ControlTexts::new([""]).occurrences("abc").count(), 0);
}

#[test]
fn overlapping_occurrences_are_all_found() {
    let control = ControlTexts::new(["<a>", "><b"]);
    assert_eq!(control.occurrences("<a><b>").collect::<Vec<_>>(), [0..3, 2..5]);
}

#[test]
fn fragments_are_beginnings_and_endings_anywhere() {
    let fragments = |text: &str| {
        let ranges = control().fragments(text);
        ranges.into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(fragments("x<|en y d|> z"), ["<|en", "d|>"]);
    assert_eq!(fragments("x[INST]y"), ["[INST]"]);
    assert_eq!(fragments("plain text"), ["e"; 1], "an ending of `more`");
    assert_eq!(fragments("<｜e ｜>"), ["<｜e", "｜>"]);
}

#[test]
fn fragments_respect_character_boundaries() {
    // U+FF5C and U+FF5D share their first two bytes.
    let text = "<｝";
    assert_eq!(control().fragments(text), vec![0..text.len()]);
}

#[test]
fn parts_of_a_text() {
    assert!(control().has_part("end"));
    assert!(control().has_part("INST"));
    assert!(!control().has_part("user"));
}

#[test]
fn merging() {
    assert_eq!(merge(vec![5..7, 0..2, 1..3, 3..4]), [0..4, 5..7]);
    assert_eq!(merge(vec![0..9, 2..3]), std::iter::once(0..9).collect::<Vec<_>>());
}
