//! Kernels that others published and Apple's compiler takes: fetched, not committed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use metal_sim::{Binding, Compiler, Grid, Launch, Library, Mode, Profile, Simulator, Source};

use crate::kernels::{floats, read};
use crate::{is_required, require};

const PACKAGE: &str = "candle-metal-kernels";
const VERSION: &str = "0.11.1";
const FILES: usize = 17;

/// The package's folder of kernels, fetched with cargo; none where there is no registry to ask.
fn fetched() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("published");
    fs::create_dir_all(folder.join("src")).expect("a folder");
    fs::write(folder.join("src/lib.rs"), "").expect("a file");
    let manifest = format!(
        "[package]\nname = \"published\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [dependencies]\n{PACKAGE} = \"={VERSION}\"\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1"])
        .current_dir(&folder)
        .output()
        .expect("cargo");
    let text = String::from_utf8_lossy(&metadata.stdout).into_owned();
    let end = text.find(&format!("{PACKAGE}-{VERSION}/Cargo.toml\""));
    let Some(end) = end else {
        let reason = String::from_utf8_lossy(&metadata.stderr).into_owned();
        assert!(!is_required(), "{PACKAGE} cannot be fetched: {reason}");
        writeln!(std::io::stderr(), "not run: {PACKAGE} cannot be fetched: {reason}")
            .expect("stderr");
        return None;
    };
    let start = text[..end].rfind('"').map_or(0, |quote| quote + 1);
    Some(PathBuf::from(format!("{}{PACKAGE}-{VERSION}/src/metal_src", &text[start..end])))
}

fn source(folder: &Path, file: &str) -> Source {
    let text = fs::read_to_string(folder.join(file)).expect("a file of the package");
    Source { name: file.to_owned(), text }
}

/// The compiler, and the folder; none where a test cannot run.
fn prepared() -> Option<(Compiler, PathBuf)> {
    let compiler = require()?;
    let folder = fetched()?;
    Some((compiler.include(&folder), folder))
}

#[test]
fn published_kernels_check_strictly() {
    let Some((compiler, folder)) = prepared() else { return };
    let names =
        fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("entry").file_name());
    let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(".metal"));
    assert_eq!(names.len(), FILES);
    for name in &names {
        if let Err(error) = compiler.check(&source(&folder, name)) {
            panic!("{name}: {error}");
        }
    }
}

/// The output of a kernel over these numbers: scalars as bytes first, then input and output.
fn run(library: &Library, kernel: &str, scalars: &[&[u8]], input: &[f32]) -> Vec<f32> {
    let output = floats(&vec![0.0; input.len()]);
    let mut bindings: Vec<_> = (0..)
        .zip(scalars)
        .map(|(index, bytes)| Binding::Bytes { index, bytes: bytes.to_vec() })
        .collect();
    let next = bindings.len() as u32;
    bindings.push(Binding::whole(next, &floats(input)));
    bindings.push(Binding::whole(next + 1, &output));
    let launch = Launch {
        kernel: library.kernel(kernel).expect("a kernel of the file"),
        bindings,
        threadgroup_memory: Vec::new(),
        // Each thread makes two numbers of four bytes.
        grid: Grid::Threads([input.len().div_ceil(2) as u32, 1, 1]),
        threads_per_threadgroup: [32, 1, 1],
    };
    let outcome = Simulator::new(Profile::M1).run(&launch);
    assert!(outcome.reports.is_empty(), "{kernel}: {:?}", outcome.reports);
    read(&output)
}

type Function = fn(f32) -> f32;

#[test]
fn published_kernels_run() {
    let Some((compiler, folder)) = prepared() else { return };
    let input: Vec<f32> = (0..77).map(|i| i as f32 / 8.0 - 3.0).collect();
    let count = (input.len() as u64).to_le_bytes();
    let compile = |file| compiler.compile(&source(&folder, file), Mode::Checked);

    let affine = compile("affine.metal").expect("compiles");
    let (scale, shift) = (2.5f32.to_le_bytes(), (-1.0f32).to_le_bytes());
    let found = run(&affine, "affine_f32", &[&count, &scale, &shift], &input);
    assert!(found.iter().zip(&input).all(|(y, x)| (y - (x * 2.5 - 1.0)).abs() < 1e-5), "{found:?}");

    let unary = compile("unary.metal").expect("compiles");
    let functions: [(&str, Function); 4] = [
        ("sqr_f32", |x| x * x),
        ("exp_f32", f32::exp),
        ("tanh_f32", f32::tanh),
        ("relu_f32", |x| x.max(0.0)),
    ];
    for (kernel, function) in functions {
        let found = run(&unary, kernel, &[&count], &input);
        let near =
            |(y, x): (&f32, &f32)| (y - function(*x)).abs() <= 1e-5 * function(*x).abs().max(1.0);
        assert!(found.iter().zip(&input).all(near), "{kernel}: {found:?}");
    }
}
