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

#[test]
fn what_was_not_used_for_longest_goes_first() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    for (age, name) in ["a.so", "b.so", "c.so", "other.txt"].iter().enumerate() {
        fs::write(path(name), [0; 100])?;
        let then = SystemTime::now() - std::time::Duration::from_secs(1000 - age as u64);
        File::options().write(true).open(path(name))?.set_modified(then)?;
    }
    let there = |name: &str| path(name).exists();
    prune(folder.path(), 300);
    assert!(there("a.so"));
    touch(&path("a.so"));
    prune(folder.path(), 200);
    assert_eq!(["a.so", "b.so", "c.so", "other.txt"].map(there), [true, false, true, true]);
    Ok(())
}

#[test]
fn a_program_in_a_target_folder_has_its_libraries_there() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("target");
    let inner = target.join("sim/build");
    fs::create_dir_all(&inner)?;
    let program = inner.join("debug/deps/it");
    assert_eq!(target_folder(&program), None);
    fs::write(inner.join("CACHEDIR.TAG"), "")?;
    assert_eq!(target_folder(&program), Some(inner));
    fs::write(target.join("CACHEDIR.TAG"), "")?;
    assert_eq!(target_folder(&program), Some(target));
    Ok(())
}
