use super::{APPLE_LINK, LINK, copy_folder, pinned, relinked};

#[test]
fn the_version_is_read_from_the_manifest_of_the_workspace() {
    let manifest = include_str!("../../sim/Cargo.toml");
    let version = pinned(manifest).unwrap();
    assert!(version.split('.').count() == 3, "{version}");
    let error = pinned("objc2 = { version = \"=1.0.0\" }\n").unwrap_err().to_string();
    assert!(error.contains("objc2-metal = { version"), "{error}");
}

#[test]
fn one_link_attribute_becomes_apples() {
    let text = format!("// before\n{LINK}\nextern \"C\" {{}}\n");
    let changed = relinked(&text).unwrap();
    assert_eq!(changed, format!("// before\n{APPLE_LINK}\nextern \"C\" {{}}\n"));
    let error = relinked("extern \"C\" {}\n").unwrap_err().to_string();
    assert!(error.contains("has 0 lines"), "{error}");
}

#[test]
fn folders_are_copied_with_what_lies_in_them() {
    let folder = std::env::temp_dir().join(format!("xtask-sim-{}", std::process::id()));
    let (source, target) = (folder.join("source"), folder.join("target"));
    std::fs::create_dir_all(source.join("inner")).unwrap();
    std::fs::write(source.join("inner/file"), "text").unwrap();
    copy_folder(&source, &target).unwrap();
    assert_eq!(std::fs::read_to_string(target.join("inner/file")).unwrap(), "text");
    std::fs::remove_dir_all(folder).unwrap();
}
