//! Clang's messages as values.

use super::*;

const READER: Reader<'_> = Reader { headers: "/shim", kernels: &[] };

fn place(file: &str, line: u32, column: u32) -> Place {
    Place { file: file.to_owned(), line, column }
}

#[test]
fn errors_have_places_and_notes() {
    let messages = "a b.metal:3:14: error: no: good\nx.h:1:2: note: here\n\
                    k.metal:9:1: warning: hm [-Wx]\n2 errors generated.\n";
    let found = READER.read(messages);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].place, Some(place("a b.metal", 3, 14)));
    assert_eq!(found[0].text, "no: good");
    assert_eq!(found[0].notes, [Note { place: place("x.h", 1, 2), text: "here".to_owned() }]);
    assert_eq!(found[1].severity, Severity::Warning);
    assert_eq!(found[1].to_string(), "k.metal:9:1: warning: hm [-Wx]");
}

#[test]
fn a_message_inside_of_the_headers_moves_to_the_author() {
    let messages =
        "/shim/m.h:3:1: error: bad\n/shim/n.h:4:4: note: in\nk:5:6: note: requested here\n";
    let found = READER.read(messages);
    assert_eq!(found[0].place, Some(place("k", 5, 6)));
    assert!(found[0].notes.is_empty());
}

#[test]
fn messages_without_a_place_are_kept() {
    let found = READER.read("clang: error: no such thing\nk:1:1: fatal error: gone\n");
    assert_eq!(found[0].place, None);
    assert_eq!(found[0].text, "no such thing");
    assert_eq!((found[1].severity, found[1].text.as_str()), (Severity::Error, "gone"));
}

#[test]
fn a_message_about_the_tables_moves_to_the_kernel() {
    let kernels = [place("k", 7, 13)];
    let reader = Reader { kernels: &kernels, ..READER };
    let messages = format!("{TABLES}:2:90: error: bad\n{TABLES}:9:1: note: in\n");
    let found = reader.read(&messages);
    assert_eq!(found[0].place, Some(place("k", 7, 13)));
    assert!(found[0].notes.is_empty());
}
