use super::*;

fn control() -> ControlTexts {
    ControlTexts::new(["<|end|>", "<|tool|>"])
}

fn pieces(text: &str, user: &[Range<usize>]) -> Vec<(String, bool)> {
    let rendered = Rendered::cut(text, user, &control());
    assert_eq!(rendered.text(), text);
    rendered.pieces.into_iter().map(|piece| (piece.text, piece.trusted)).collect()
}

#[test]
fn an_ordinary_prompt_is_one_piece() {
    let text = "<|end|>hello <b> there<|end|>";
    assert_eq!(pieces(text, std::slice::from_ref(&(7..22))), [(text.to_owned(), true)]);
    assert!(pieces("", &[]).is_empty());
}

#[test]
fn only_what_could_be_a_token_is_set_apart() {
    let found = pieces("a<|end|>b<|end|>", std::slice::from_ref(&(0..9)));
    assert_eq!(found, [("a".into(), true), ("<|end|>".into(), false), ("b<|end|>".into(), true)]);
}

#[test]
fn a_token_made_of_both_loses_the_users_part() {
    let found = pieces("<|end|>", std::slice::from_ref(&(2..5)));
    assert_eq!(found, [("<|".into(), true), ("end".into(), false), ("|>".into(), true)]);
}

#[test]
fn harmless_constants_stay_unmarked() {
    let constants = HashSet::from(["string".to_owned(), "tool".into(), "<".into()]);
    let marks = Marks::absent_from([]).expect("free characters");
    let control = control();
    let marked = |marking, text: &str| {
        let mut marker = Marker::new(marking, marks, &constants, &control);
        (marker.value(text) != text, marker.key(text) != text)
    };
    assert_eq!(marked(Marking::Whole, "string"), (false, false));
    assert_eq!(marked(Marking::Whole, "Hello"), (true, true));
    assert_eq!(marked(Marking::Whole, ""), (false, false));
    // A part of a control text: as a value it may be put between the rest of one.
    assert_eq!(marked(Marking::Whole, "tool"), (true, false));
    assert_eq!(marked(Marking::Whole, "<"), (true, true));
    assert_eq!(marked(Marking::Fragments, "tool"), (false, false));
    assert_eq!(marked(Marking::Fragments, "x <|en"), (true, true));
    assert_eq!(marked(Marking::Fragments, " end "), (true, true));
    assert_eq!(marked(Marking::Fragments, "Hello"), (false, false));
    assert_eq!(marked(Marking::Plain, "<|end|>"), (false, false));
}
