use proptest::prelude::*;

use super::*;

const MARKS: Marks = Marks { open: '\u{e000}', close: '\u{e001}' };

#[test]
fn marks_are_free_characters() {
    assert_eq!(Marks::absent_from(["a", "é"]), Some(MARKS));
    let next = Marks { open: '\u{e001}', close: '\u{e003}' };
    assert_eq!(Marks::absent_from(["\u{e000}", "x\u{e002}"]), Some(next));
}

#[test]
fn text_that_lost_a_mark_is_torn() {
    assert!(!Text::parse("a\u{e000}b\u{e001}c", MARKS).torn);
    let open = Text::parse("a\u{e000}b", MARKS);
    assert!(open.torn);
    assert_eq!(open.user, std::iter::once(1..2).collect::<Vec<_>>());
    assert!(Text::parse("a\u{e001}b", MARKS).torn);
}

#[test]
fn changes_keep_whose_text_it_is() {
    let text = Text::parse("ß\u{e000}straße\u{e001}!", MARKS);
    let upper = text.map(str::to_uppercase);
    assert_eq!(upper.to_marked(MARKS), "SS\u{e000}STRASSE\u{e001}!");
}

fn text() -> impl Strategy<Value = Text> {
    prop::collection::vec(("[a-cé<|>]{0,4}", any::<bool>()), 0..6).prop_map(|runs| {
        let mut out = Text::default();
        for (run, user) in runs {
            let marked = if user { MARKS.around_all(&run) } else { run };
            out.append(&Text::parse(&marked, MARKS));
        }
        out
    })
}

proptest! {
    #[test]
    fn parse_undoes_to_marked(text in text()) {
        prop_assert_eq!(Text::parse(&text.to_marked(MARKS), MARKS), text);
    }

    #[test]
    fn slices_put_together_are_the_whole(text in text(), at in any::<prop::sample::Index>()) {
        let at = text.plain.floor_char_boundary(at.index(text.plain.len() + 1));
        let mut joined = text.slice(0..at);
        joined.append(&text.slice(at..text.plain.len()));
        prop_assert_eq!(joined, text);
    }
}
