//! Every input of the corpora in every test run, and about a second of changes to them.

use std::collections::HashSet;
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use minfer_fuzz_targets::mutate::{BYTES_MAX, Mutator};
use minfer_fuzz_targets::{Outcome, TARGETS, Target};

/// For each target.
const TIME: Duration = Duration::from_secs(1);

fn folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(target.name)
}

fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder(target)).expect("each target has a corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("is read").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).expect("is read"))).collect()
}

/// Calls the target; names the input that it panics on.
fn call(target: &Target, path: &Path, input: &[u8]) {
    if let Err(panic) = panic::catch_unwind(|| (target.run)(input)) {
        let text = panic.downcast_ref::<String>().map_or("no text", String::as_str);
        panic!("{}: {text}", path.display());
    }
}

fn replay(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let corpus = corpus(target);
    for (path, input) in &corpus {
        assert!(input.len() <= BYTES_MAX, "{} has {} bytes", path.display(), input.len());
        call(target, path, input);
    }
    let pool: Vec<Vec<u8>> = corpus.into_iter().map(|(_, input)| input).collect();
    let changed = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut mutator = Mutator::new(0);
    let begin = Instant::now();
    while begin.elapsed() < TIME {
        let input = mutator.input(&pool, target.dictionary);
        fs::write(&changed, &input).expect("the folder for tests' files is there");
        call(target, &changed, &input);
    }
    fs::remove_file(changed).expect("at least one input was made");
}

#[test]
fn gguf() {
    replay("gguf");
}

#[test]
fn tokenizer() {
    replay("tokenizer");
}

#[test]
fn template() {
    replay("template");
}

#[test]
fn grammar() {
    replay("grammar");
}

#[test]
fn open_and_plan() {
    replay("open_and_plan");
}

#[test]
fn the_corpora_hold_the_seeds_as_they_are_made_today() {
    for target in TARGETS {
        for (name, bytes) in (target.seeds)() {
            let path = folder(target).join(name);
            let found = fs::read(&path);
            let good = found.is_ok_and(|found| found == bytes);
            assert!(good, "{}: run `cargo run -p minfer-fuzz-targets -- seeds`", path.display());
        }
    }
}

#[test]
fn seeds_take_different_ways() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        let ways: HashSet<Outcome> = seeds.iter().map(|(_, input)| (target.run)(input)).collect();
        assert!(ways.len() >= 3, "{}: {ways:?}", target.name);
    }
}

#[test]
fn changes_are_those_of_the_seed() {
    let pool = [b"some input".to_vec(), vec![0; 100]];
    let inputs = |seed| -> Vec<Vec<u8>> {
        let mut mutator = Mutator::new(seed);
        (0..100).map(|_| mutator.input(&pool, &["word"])).collect()
    };
    assert_eq!(inputs(1), inputs(1));
    assert_ne!(inputs(1), inputs(2));
    assert!(inputs(1).iter().filter(|input| !pool.contains(input)).count() > 90);
}
