//! The list of headers, and the files it becomes.

use std::collections::BTreeSet;

use super::*;

fn files(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files(&entry.path(), &format!("{name}/"), found)?;
        } else {
            found.insert(name);
        }
    }
    Ok(())
}

#[test]
fn every_header_is_carried() -> io::Result<()> {
    let mut found = BTreeSet::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("shim"), "", &mut found)?;
    let carried: BTreeSet<String> = HEADERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, carried);
    Ok(())
}

#[test]
fn headers_are_written_once() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let shim = Shim::write(folder.path())?;
    let header = shim.headers.join("abi.h");
    assert_eq!(fs::read_to_string(&header)?, include_str!("../../shim/abi.h"));
    assert_eq!(fs::read_to_string(shim.empty.join("simd/simd.h"))?, "");
    let before = fs::metadata(&header)?.modified()?;
    Shim::write(folder.path())?;
    assert_eq!(fs::metadata(&header)?.modified()?, before);
    Ok(())
}
