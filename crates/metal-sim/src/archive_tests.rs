use super::{pack, unpack};
use crate::Source;

fn source(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), text: text.to_owned() }
}

#[test]
fn sources_come_out_as_they_went_in() {
    let sources =
        [source("a b.metal", "kernel void f() {}\n"), source("empty", ""), source("ü", "ä")];
    assert_eq!(unpack(&pack(&sources)).unwrap(), sources);
    assert_eq!(unpack(&pack(&[])).unwrap(), []);
}

#[test]
fn what_is_no_archive_is_refused_with_what_stands_there() {
    let refused = |bytes: &[u8]| unpack(bytes).unwrap_err().to_string();
    let error = refused(b"MTLB\x01\x00");
    assert!(error.contains("at byte 0 expected the line \"metal-sim archive\", found \"MTLB"));
    assert!(refused(b"").contains("found \"\""));
    assert!(refused(b"metal-sim archive\nsource x y\n").contains("at byte 18 expected \"source\""));
    let whole = pack(&[source("a", "text")]);
    for end in 1..whole.len() {
        let cut = unpack(&whole[..end]);
        assert!(cut.is_err() || end == 18, "{end}: {cut:?}");
    }
    let huge = format!("metal-sim archive\nsource {} a\n", usize::MAX);
    assert!(refused(huge.as_bytes()).contains("a source of that length"));
}
