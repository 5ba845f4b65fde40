//! Which sources have notes, and what changes them.

use std::collections::BTreeSet;
use std::io;

use super::*;

#[test]
fn all_that_makes_text_counts() -> io::Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(source.join("source"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.ends_with("tests.rs") {
            found.insert(format!("source/{name}"));
        }
    }
    let listed = MAKERS.iter().map(|(name, _)| (*name).to_owned());
    let listed: BTreeSet<String> = listed.filter(|name| name.starts_with("source/")).collect();
    assert_eq!(found, listed);
    Ok(())
}

#[test]
fn sources_that_include_files_have_none() {
    for text in ["#include <metal_stdlib>\n#define X 1\nkernel", "#line 1 \"a\"", ""] {
        assert!(is_whole(text), "{text}");
    }
    for text in [
        "#include \"a.h\"",
        " #  include <a.h>",
        "#include_next <metal_stdlib>",
        "#import <metal_stdlib>",
        "#include NAME",
        "#if __has_include(\"a.h\")\n#endif",
    ] {
        assert!(!is_whole(text), "{text}");
    }
}

#[test]
fn a_note_is_of_its_source_and_its_mode() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let notes = |text: &str, word: &'static str| {
        Notes::new(folder.path(), text, Hash::new(), [word].into_iter())
    };
    let one = notes("one", "word");
    assert!(!one.is_checked());
    one.set_checked();
    assert!(one.is_checked());
    let library = folder.path().join("one.so");
    one.set_library(Mode::Fast, &library);
    assert_eq!(one.library(Mode::Fast), None, "there is no such file");
    fs::write(&library, "")?;
    assert_eq!(one.library(Mode::Fast), Some(library));
    assert_eq!(one.library(Mode::Checked), None);
    for other in [notes("two", "word"), notes("one", "words")] {
        assert!(!other.is_checked());
        assert_eq!(other.library(Mode::Fast), None);
    }
    Ok(())
}
