//! Names, tags and the cache's layout; fetching is tested on the built program.

use std::fs;
use std::path::{Path, PathBuf};

use super::cache::{self, Cache};
use super::reference::{Reference, Repo};
use super::repository::size;
use super::{Found, Origin, catalog, disk, quant_tag};

#[test]
fn repositories_are_read_in_every_spelling() {
    let repo =
        |name: &str, quant: Option<&str>| Repo { name: name.into(), quant: quant.map(Into::into) };
    for (text, expected) in [
        ("user/repo", repo("user/repo", None)),
        ("user/repo:Q4_K_M", repo("user/repo", Some("Q4_K_M"))),
        ("hf.co/user/re.po-1:q8_0", repo("user/re.po-1", Some("q8_0"))),
        ("https://huggingface.co/user/repo", repo("user/repo", None)),
    ] {
        assert_eq!(Repo::parse(text).unwrap(), expected, "{text}");
    }
    for text in ["repo", "a/b/c", "/b", "a/", "../b", "a/..", "a/b:", "a/b:x/y", "a--b/c", "a b/c"]
    {
        assert!(Repo::parse(text).is_err(), "{text}");
    }
}

#[test]
fn files_of_the_catalog_are_known_by_their_names() {
    for (path, name) in [
        ("a/SmolLM2-135M-Instruct.Q4_1.gguf", Some("smollm2")),
        ("gemma-3-1b-it-Q4_K_M.gguf", Some("gemma3-1b")),
        ("qwen2.5-0.5b-instruct-q4_k_m.gguf", Some("qwen2.5-0.5b")),
        ("gemma-3-270m-q4_k_m.gguf", Some("gemma3-270m")),
        ("Qwen3-0.6B-Q4_K_M.gguf", None),
        ("model.gguf", None),
        ("..", None),
    ] {
        let found = catalog::of_file(Path::new(path)).map(|entry| entry.name);
        assert_eq!(found, name, "{path}");
    }
}

#[test]
fn words_look_like_models_or_like_text() {
    use super::misplaced::Likeness::{Model, Perhaps, Text};
    for (word, expected) in [
        ("smollm2", Model),
        ("LLAMA3.2-1B", Model),
        ("none.GGUF", Model),
        ("user/repo-GGUF", Model),
        ("user/repo:q8_0", Model),
        ("hf.co/user/repo", Model),
        ("What is in one.gguf", Text),
        ("llama3.1", Perhaps),
        ("mistral-7b", Perhaps),
        ("phi:latest", Perhaps),
        ("and/or", Text),
        ("https://example.com/a", Text),
        ("Warning:", Text),
        ("v-b", Text),
        ("e.g.", Text),
        ("", Text),
    ] {
        assert_eq!(super::misplaced::likeness(word), expected, "{word}");
    }
}

#[test]
fn kinds_of_references_are_told_apart() {
    assert!(matches!(Reference::parse("./x"), Ok(Reference::Path(_))));
    assert!(matches!(Reference::parse("x.GGUF"), Ok(Reference::Path(_))));
    assert!(matches!(Reference::parse("SmolLM2"), Ok(Reference::Catalog(_))));
    assert!(matches!(Reference::parse("user/repo"), Ok(Reference::Repo(_))));
    assert!(matches!(Reference::parse("llama3:8b"), Ok(Reference::Name(_))));
}

#[test]
fn catalog_names_lead_somewhere() {
    for entry in catalog::ENTRIES {
        assert!(entry.repo.is_some() || entry.pypi.is_some(), "{}", entry.name);
        if let Some(repo) = entry.repo {
            assert!(Repo::parse(repo).unwrap().quant.is_some(), "{repo}");
        }
        assert!(entry.bytes > 1_000_000, "{}", entry.name);
        for repo in entry.repos() {
            assert_eq!(catalog::of_repo(&repo.name).unwrap().name, entry.name);
        }
        for (flag, value) in entry.settings {
            assert!(flag.parse(&[(*value).to_owned()]).is_ok(), "{} {}", entry.name, flag.name);
        }
        if let Some(pypi) = &entry.pypi {
            assert_eq!(pypi.sha256.len(), 64);
            assert!(pypi.packages.iter().all(|package| package.contains("==")), "{}", entry.name);
        }
    }
}

#[test]
fn sizes_are_decimal_and_short() {
    for (bytes, expected) in [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (9_949_999, "9.9 MB"),
        (9_950_000, "10 MB"),
        (98_362_432, "98 MB"),
        (999_499_999, "999 MB"),
        (999_500_000, "1.00 GB"),
        (18_556_686_912, "18.56 GB"),
    ] {
        assert_eq!(size(bytes), expected, "{bytes}");
    }
}

#[test]
fn a_disk_that_does_not_hold_a_file_refuses_it() {
    let folder = tempfile::tempdir().unwrap();
    disk::ensure_fits("m.gguf", folder.path(), 1, "").unwrap();
    disk::ensure_fits("m.gguf", Path::new(""), 1, "").unwrap();
    disk::ensure_fits("m.gguf", &folder.path().join("none"), u64::MAX, "").unwrap();
    if cfg!(unix) {
        let error = disk::ensure_fits("m.gguf", folder.path(), u64::MAX, "go elsewhere");
        let error = error.unwrap_err().to_string();
        let needed = format!("m.gguf needs {}, and the disk of ", size(u64::MAX));
        assert!(error.starts_with(&needed) && error.ends_with("free: go elsewhere"), "{error}");
    }
}

#[test]
fn tags_are_found_in_names() {
    for (path, expected) in [
        ("Qwen3-4B-Q4_K_M.gguf", Some("Q4_K_M")),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", Some("Q4_1")),
        ("a/b/model-iq4_xs.gguf", Some("IQ4_XS")),
        ("big-Q6_K-00002-of-00003.gguf", Some("Q6_K")),
        ("gpt-oss-20b-mxfp4.gguf", Some("MXFP4")),
        ("a-NVFP4.gguf", Some("NVFP4")),
        ("gemma-3-270m-q4_k_m.gguf", Some("Q4_K_M")),
        ("Qwen3-4B.gguf", None),
        ("model-Q4_K_M.bin", None),
    ] {
        assert_eq!(quant_tag::of(path).as_deref(), expected, "{path}");
    }
    let files = ["m-IQ4_XS.gguf", "m-UD-Q4_K_XL.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf"];
    assert_eq!(quant_tag::choose(&files, None), Some("m-Q4_K_M.gguf"));
    assert_eq!(quant_tag::choose(&files, Some("ud-q4_k_xl")), Some("m-UD-Q4_K_XL.gguf"));
    assert_eq!(quant_tag::choose(&files, Some("q4_k_xl")), Some("m-UD-Q4_K_XL.gguf"));
    assert_eq!(quant_tag::choose(&files, Some("Q5_K_M")), None);
    assert_eq!(quant_tag::choose(&["m-Q5_0.gguf"], None), Some("m-Q5_0.gguf"));
}

#[test]
fn split_sets_are_one_model() {
    let all = ["d/x-Q8_0-00001-of-00002.gguf", "d/x-Q8_0-00002-of-00002.gguf", "d/x-Q4_0.gguf"];
    assert_eq!(cache::set_of(all[0], &all), &all[..2]);
    assert_eq!(cache::set_of(all[2], &all), &all[2..]);
    let first: Vec<&&str> = all.iter().filter(|path| cache::is_first(path)).collect();
    assert_eq!(first, [&all[0], &all[2]]);
    assert!(!cache::is_first("mmproj-model-f16.gguf"));
}

/// A blob of `bytes`, linked into two snapshots.
fn stored(cache: &Cache, repo: &str, file: &str, bytes: usize) -> PathBuf {
    let blob = cache.blob(repo, &format!("sum-of-{}", file.replace('/', "-"))).unwrap();
    fs::write(&blob, vec![0; bytes]).unwrap();
    cache.link(repo, "older", file, &blob).unwrap();
    cache.link(repo, "newer", file, &blob).unwrap()
}

#[test]
fn the_cache_finds_lists_and_removes_whole_models() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(Some(folder.path().to_owned())).unwrap();
    let path = stored(&cache, "user/repo", "m-Q4_0.gguf", 10);
    stored(&cache, "user/repo", "sub/m-Q8_0-00001-of-00002.gguf", 20);
    stored(&cache, "user/repo", "sub/m-Q8_0-00002-of-00002.gguf", 30);
    cache.set_main("user/repo", "newer").unwrap();

    assert_eq!(
        cache.find(&Repo::parse("user/repo:q4_0").unwrap()).as_deref(),
        Some(path.as_path())
    );
    assert_eq!(cache.find(&Repo::parse("user/repo:q5_0").unwrap()), None);
    assert_eq!(cache.find(&Repo::parse("user/other").unwrap()), None);
    let found = cache.found();
    let names: Vec<(&str, u64)> =
        found.iter().map(|found| (found.name.as_str(), found.bytes)).collect();
    assert_eq!(names, [("user/repo:Q4_0", 10), ("user/repo:Q8_0", 50)]);

    let split = &found[1];
    assert!(split.path.ends_with("snapshots/newer/sub/m-Q8_0-00001-of-00002.gguf"));
    assert_eq!(cache.remove(split).unwrap(), 0, "the older snapshot still links to it");
    let again = cache.found();
    assert!(again[1].path.ends_with("snapshots/older/sub/m-Q8_0-00001-of-00002.gguf"));
    assert_eq!(cache.remove(&again[1]).unwrap(), 50);
    assert_eq!(cache.found().len(), 1);
    let elsewhere = Found {
        name: "x".into(),
        path: Path::new("/etc/hosts").into(),
        bytes: 1,
        origin: Origin::Ollama,
    };
    assert_eq!(cache.remove(&elsewhere).unwrap(), 0);
}
