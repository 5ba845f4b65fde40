//! The language by chapters: kernels that check themselves, and lines that must not compile.

use std::fs;
use std::path::{Path, PathBuf};

use metal_sim::{Binding, Grid, Kernel, Launch, Memory, Mode, Profile, Simulator, Source};

use crate::kernels::text;
use crate::require;

/// Two simdgroups.
const THREADS: u32 = 64;

/// The kernels of a folder below `tests`.
fn files(folder: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = fs::read_dir(path).expect("a folder of the tests");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = paths.filter(|path| path.extension().is_some()).collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().expect("a file").to_string_lossy().into_owned()
}

/// The lines whose expectations failed in some thread, and what the simulator reports.
fn failures(kernel: Kernel) -> (Vec<u32>, Vec<String>) {
    let failed = Memory::of(&[0; THREADS as usize * 4]).expect("memory");
    let launch = Launch {
        kernel,
        bindings: vec![Binding::whole(0, &failed)],
        threadgroup_memory: Vec::new(),
        grid: Grid::Threads([THREADS, 1, 1]),
        threads_per_threadgroup: [THREADS, 1, 1],
    };
    let outcome = Simulator { seed: 3, ..Simulator::new(Profile::M1) }.run(&launch);
    let bytes = failed.read();
    let lines = bytes.chunks_exact(4).map(|four| four.try_into().expect("four"));
    let mut lines: Vec<_> = lines.map(u32::from_le_bytes).filter(|&line| line != 0).collect();
    lines.sort_unstable();
    lines.dedup();
    (lines, outcome.reports.iter().map(ToString::to_string).collect())
}

/// Runs every kernel of every chapter, of which there are more than forty.
fn run_all(mode: Mode) {
    let Some(compiler) = require() else { return };
    let mut kernels = 0;
    for path in files("language") {
        let file = name(&path);
        let source = Source { name: file.clone(), text: text(&format!("language/{file}")) };
        let library = compiler.compile(&source, mode).expect("a chapter compiles");
        for kernel in library.kernels() {
            let (lines, reports) = failures(library.kernel(kernel).expect("a kernel"));
            let silent = lines.is_empty() && reports.is_empty();
            assert!(silent, "{file} {kernel}: {lines:?} {reports:?}");
            kernels += 1;
        }
    }
    assert!(kernels > 40, "{kernels}");
}

#[test]
fn what_the_specification_says_is_what_fast_runs_compute() {
    run_all(Mode::Fast);
}

#[test]
fn what_the_specification_says_is_what_checked_runs_compute() {
    run_all(Mode::Checked);
}

#[test]
fn a_kernel_of_the_chapters_can_fail() {
    let Some(compiler) = require() else { return };
    let text = "#include <metal_stdlib>\nkernel void k(device uint* failed [[buffer(0)]],\n\
                uint t [[thread_position_in_grid]]) { failed[t] = t == 9 ? __LINE__ : 0; }\n";
    let source = Source { name: "fails.metal".to_owned(), text: text.to_owned() };
    let library = compiler.compile(&source, Mode::Fast).expect("compiles");
    assert_eq!(failures(library.kernel("k").expect("a kernel")).0, [3]);
}

#[test]
fn what_the_language_does_not_have_is_refused() {
    let Some(compiler) = require() else { return };
    for path in files("language/refused") {
        let text = fs::read_to_string(&path).expect("a file");
        let first = text.lines().next().unwrap_or_default();
        let expected =
            first.strip_prefix("// expect: ").expect("what to expect, in the first line");
        let found = match compiler.check(&Source { name: name(&path), text: text.clone() }) {
            Ok(_) => panic!("{} is accepted; expected: {expected}", path.display()),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{}: {found}", path.display());
    }
}
