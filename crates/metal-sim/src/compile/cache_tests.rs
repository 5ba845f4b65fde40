//! Hashes, and entries that appear whole.

use super::*;

#[test]
fn a_hash_tells_texts_and_their_borders_apart() {
    let hash = |texts: &[&str]| {
        let mut hash = Hash::new();
        texts.iter().for_each(|text| hash.add(text));
        hash.to_string()
    };
    assert_eq!(hash(&["ab", "c"]), hash(&["ab", "c"]));
    assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
    assert_eq!(hash(&[]), "6c62272e07bb014262b821756295c58d");
}

#[test]
fn a_failed_entry_leaves_nothing() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("deep").join("entry");
    let failed = publish(&path, |path| {
        fs::write(path, "half")?;
        Err(io::Error::other("no"))
    });
    assert!(failed.is_err());
    assert_eq!(fs::read_dir(folder.path().join("deep"))?.count(), 0);
    publish(&path, |path| fs::write(path, "whole"))?;
    assert_eq!(fs::read_to_string(&path)?, "whole");
    Ok(())
}
