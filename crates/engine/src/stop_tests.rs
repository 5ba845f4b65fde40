use proptest::prelude::*;

use super::StopText;

/// What comes out when the text arrives in these pieces.
fn run(stops: &[&str], pieces: &[&str]) -> (Vec<String>, bool) {
    let mut stop = StopText::new(stops.iter().map(|stop| stop.to_string()).collect());
    let mut out = Vec::new();
    for piece in pieces {
        let (text, stopped) = stop.push(piece);
        out.push(text);
        if stopped {
            return (out, true);
        }
    }
    out.push(stop.finish());
    (out, false)
}

#[test]
fn without_stop_strings_nothing_is_held() {
    assert_eq!(run(&[], &["a", "b"]).0, ["a", "b", ""]);
}

#[test]
fn a_possible_start_is_held_until_it_is_decided() {
    assert_eq!(
        run(&["END"], &["an E", "N", "T", "END"]),
        (vec!["an ".into(), "".into(), "ENT".into(), "".into()], true)
    );
}

#[test]
fn what_was_held_comes_out_at_the_end() {
    assert_eq!(run(&["END"], &["an EN"]), (vec!["an ".into(), "EN".into()], false));
}

#[test]
fn the_stop_string_that_starts_first_counts() {
    assert_eq!(run(&["bx", "abc"], &["1abx"]), (vec!["1a".into()], true));
    assert_eq!(run(&["c", "abc"], &["1ab", "c2"]), (vec!["1".into(), "".into()], true));
}

#[test]
fn characters_of_several_bytes_are_kept_whole() {
    assert_eq!(
        run(&["é!"], &["é", "è", "é", "!"]),
        (vec!["".into(), "éè".into(), "".into(), "".into()], true)
    );
}

proptest! {
    /// However a text is cut, what comes out is the text before its first stop string, and never
    /// part of one.
    #[test]
    fn pieces_do_not_matter(
        text in "[ab]{0,24}",
        stops in prop::collection::vec("[ab]{1,5}", 1..4),
        cuts in prop::collection::vec(0usize..25, 0..6),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        let stops: Vec<&str> = stops.iter().map(String::as_str).collect();
        let first = |text: &str| stops.iter().filter_map(|stop| text.find(stop)).min();
        let (out, stopped) = run(&stops, &pieces);
        // A stop string that is complete stops at once, even where a longer one could still start
        // before it.
        let end = cuts.iter().find(|cut| first(&text[..**cut]).is_some());
        prop_assert_eq!(stopped, end.is_some());
        let expected = end.map_or(&text[..], |end| &text[..first(&text[..*end]).unwrap()]);
        prop_assert_eq!(out.concat(), expected);
    }
}
