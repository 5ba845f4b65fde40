use super::*;

/// An empty folder below the build folder, so that nothing is left elsewhere.
fn scratch(name: &str) -> PathBuf {
    let folder = root().join("target/xtask-tests").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn parts_of_a_wheel_are_found_in_order() {
    let folder = scratch("parts");
    fs::create_dir_all(folder.join("package/data")).unwrap();
    for name in ["m.gguf.part01", "m.gguf.part00", "m.gguf.txt", "SHA256SUMS", "m.gguf.partx"] {
        fs::write(folder.join("package/data").join(name), name).unwrap();
    }
    let names: Vec<_> = parts(&folder).unwrap();
    let names: Vec<_> = names.iter().map(|path| path.file_name().unwrap()).collect();
    assert_eq!(names, ["m.gguf.part00", "m.gguf.part01"]);
    assert!(is_part(Path::new("a/SmolLM2.Q4_1.gguf")));
}

#[test]
fn the_sum_is_sha256() {
    let path = scratch("sum").join("abc");
    fs::write(&path, "abc").unwrap();
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(&path).unwrap(), expected);
}

#[test]
fn every_model_has_a_sum_and_pinned_packages() {
    for model in MODELS {
        assert_eq!(model.sha256.len(), 64, "{}", model.file);
        assert!(model.packages.iter().all(|package| package.contains("==")), "{}", model.file);
    }
}
