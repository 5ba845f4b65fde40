//! Kernels that others published and Apple's compiler takes: fetched, not committed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use metal_sim::{
    Binding, Compiler, Grid, Launch, Library, Memory, Mode, Profile, Simulator, Source,
};

use crate::kernels::{bytes, read};
use crate::{is_required, require};

const PACKAGE: &str = "candle-metal-kernels";
const VERSION: &str = "0.11.1";

/// Files whose kernels are not run, and why.
const NOT_RUN: [(&str, &str); 8] = [
    ("conv.metal", "shapes and strides are worked out by its host code"),
    ("gemv.metal", "tilings are chosen by its host code"),
    ("mlx_gemm.metal", "function constants and tilings are chosen by its host code"),
    ("mlx_sort.metal", "block sizes and strides are chosen by its host code"),
    ("quantized.metal", "strides of each format are worked out by its host code"),
    ("random.metal", "what is right is a distribution"),
    (
        "scaled_dot_product_attention.metal",
        "function constants and strides are chosen by its host code",
    ),
    ("utils.metal", "it has no kernels"),
];

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

/// What a launch is bound to, in the order of the kernel's buffers.
enum Slot {
    /// Copied.
    Bytes(Vec<u8>),
    /// A buffer.
    Buffer(Vec<u8>),
    /// A buffer that the kernel writes this many floats to.
    Output(usize),
}

/// A launch with its outcome.
struct Case {
    file: &'static str,
    kernel: String,
    slots: Vec<Slot>,
    /// Threads, those of a threadgroup, threadgroup memory.
    grid: (u32, u32, usize),
    /// Function constants of the type bool, all true.
    constants: u32,
    expected: Expected,
}

enum Expected {
    /// Floats in the output, within 1e-5 of the larger of their size and one.
    Values(Vec<f32>),
    /// The same words.
    Words(Vec<u32>),
    /// A report that has this in it: a mistake of the kernel.
    Report(&'static str),
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn size(value: usize) -> Slot {
    Slot::Bytes((value as u64).to_le_bytes().to_vec())
}

fn word(value: usize) -> Slot {
    Slot::Bytes((value as u32).to_le_bytes().to_vec())
}

impl Case {
    /// A kernel over one number after the other, of which each thread makes two.
    fn each(file: &'static str, kernel: &str, slots: Vec<Slot>, expected: Vec<f32>) -> Case {
        let (threads, expected) = (expected.len().div_ceil(2), Expected::Values(expected));
        let grid = (threads as u32, 32, 0);
        Case { file, kernel: kernel.to_owned(), slots, grid, constants: 0, expected }
    }

    /// What is wrong, if anything.
    fn run(&self, library: &Library) -> Option<String> {
        let constants: Vec<_> = (0..self.constants).map(|index| (index, vec![1])).collect();
        let kernel = library.kernel(&self.kernel).expect("a kernel of the file");
        let mut output: Option<Arc<Memory>> = None;
        let mut binding = |(index, slot): (u32, &Slot)| match slot {
            Slot::Bytes(bytes) => Binding::Bytes { index, bytes: bytes.clone() },
            Slot::Buffer(values) => Binding::whole(index, &bytes(values)),
            Slot::Output(count) => Binding::whole(index, output.insert(bytes(&vec![0; 4 * count]))),
        };
        let bindings = (0..).zip(&self.slots).map(&mut binding).collect();
        let (all, threads, local) = self.grid;
        let launch = Launch {
            kernel: kernel.with_constants(&constants).expect("its constants"),
            bindings,
            threadgroup_memory: if local > 0 { vec![(0, local)] } else { Vec::new() },
            grid: Grid::Threads([all, 1, 1]),
            threads_per_threadgroup: [threads, 1, 1],
        };
        let outcome = Simulator { seed: 1, ..Simulator::new(Profile::M1) }.run(&launch);
        let reports: Vec<String> = outcome.reports.iter().map(ToString::to_string).collect();
        let output = output.expect("an output");
        let good = match &self.expected {
            Expected::Report(text) => {
                return match reports.iter().any(|one| one.contains(text)) {
                    true => None,
                    false => Some(format!("{}: expected {text}, found {reports:?}", self.kernel)),
                };
            }
            Expected::Values(expected) => {
                let near = |(y, x): (&f32, &f32)| (y - x).abs() <= 1e-5 * x.abs().max(1.0);
                read(&output).iter().zip(expected).all(near)
            }
            Expected::Words(expected) => output.read() == words(expected),
        };
        let wrong = || format!("{}: {:?} {reports:?}", self.kernel, read(&output));
        (!good || !reports.is_empty()).then(wrong)
    }
}

type Unary = (&'static str, fn(f32) -> f32);
type Binary = (&'static str, fn(f32, f32) -> f32);

const UNARY: [Unary; 12] = [
    ("sqr", |x| x * x),
    ("neg", |x| -x),
    ("recip", |x| 1.0 / x),
    ("relu", |x| x.max(0.0)),
    ("silu", |x| x / (1.0 + (-x).exp())),
    ("cos", f32::cos),
    ("sin", f32::sin),
    ("exp", f32::exp),
    ("abs", f32::abs),
    ("ceil", f32::ceil),
    ("floor", f32::floor),
    ("tanh", f32::tanh),
];

const BINARY: [Binary; 6] = [
    ("badd", |x, y| x + y),
    ("bsub", |x, y| x - y),
    ("bmul", |x, y| x * y),
    ("bdiv", |x, y| x / y),
    ("bminimum", f32::min),
    ("bmaximum", f32::max),
];

fn elementwise() -> Vec<Case> {
    let x: Vec<f32> = (0..77).map(|i| i as f32 / 8.0 - 3.06).collect();
    let y: Vec<f32> = (0..77).map(|i| 2.0 - i as f32 / 16.0 + 0.01).collect();
    let (n, input) = (|| size(77), |values: &[f32]| Slot::Buffer(floats(values)));
    let mut cases = Vec::new();
    for (name, function) in UNARY {
        let expected = x.iter().map(|x| function(*x)).collect();
        let slots = vec![n(), input(&x), Slot::Output(77)];
        cases.push(Case::each("unary.metal", &format!("{name}_f32"), slots, expected));
    }
    for (name, function) in BINARY {
        let expected = x.iter().zip(&y).map(|(x, y)| function(*x, *y)).collect();
        let slots = vec![n(), input(&x), input(&y), Slot::Output(77)];
        cases.push(Case::each("binary.metal", &format!("{name}_f32"), slots, expected));
    }
    let scalars = [2.5f32, -1.0].map(|value| Slot::Bytes(value.to_le_bytes().to_vec()));
    let slots = [n()].into_iter().chain(scalars).chain([input(&x), Slot::Output(77)]).collect();
    let expected = x.iter().map(|x| x * 2.5 - 1.0).collect();
    cases.push(Case::each("affine.metal", "affine_f32", slots, expected));
    let whole: Vec<u32> = (0..77).collect();
    let slots = vec![n(), Slot::Buffer(words(&whole)), Slot::Output(77)];
    let expected = whole.iter().map(|&x| x as f32).collect();
    cases.push(Case::each("cast.metal", "cast_u32_f32", slots, expected));
    let value = Slot::Bytes(1.5f32.to_le_bytes().to_vec());
    let slots = vec![Slot::Output(77), value, n()];
    let fill = Case::each("fill.metal", "fill_f32", slots, vec![1.5; 77]);
    cases.push(Case { grid: (77, 32, 0), ..fill });
    let choice: Vec<u32> = (0..77).map(|i| i % 3 % 2).collect();
    let none = || Slot::Buffer(vec![0; 8]);
    let mut slots = vec![n(), size(1), none(), none(), none(), none()];
    slots.extend([Slot::Buffer(words(&choice)), input(&x), input(&y), Slot::Output(77)]);
    let pick = |i: usize| if choice[i] == 1 { x[i] } else { y[i] };
    let chosen = Case::each("ternary.metal", "where_u32_f32", slots, (0..77).map(pick).collect());
    cases.push(Case { constants: 3, ..chosen });
    cases
}

fn rows() -> Vec<Case> {
    let x: Vec<f32> = (0..64).map(|i| (i * 37 % 64) as f32 / 16.0).collect();
    let input = || Slot::Buffer(floats(&x));
    let mut order: Vec<u32> = (0..64).collect();
    order.sort_by(|&a, &b| x[a as usize].total_cmp(&x[b as usize]));
    let sort = Case {
        file: "sort.metal",
        kernel: "asort_asc_f32".to_owned(),
        slots: vec![input(), Slot::Output(64), size(64), size(64)],
        grid: (64, 64, 256),
        constants: 0,
        expected: Expected::Words(order.clone()),
    };
    let gather = {
        // Sizes: of the result, left of the dimension, of the dimension, right of it, of the ids.
        let mut slots: Vec<Slot> = [64, 1, 64, 1, 64].map(size).into_iter().collect();
        slots.extend([input(), Slot::Buffer(words(&order)), Slot::Output(64)]);
        let expected = order.iter().map(|&i| x[i as usize]).collect();
        let case = Case::each("indexing.metal", "gather_u32_f32", slots, expected);
        Case { grid: (64, 32, 0), ..case }
    };
    let row = |kernel: &str, slots, expected| Case {
        file: "reduce.metal",
        kernel: kernel.to_owned(),
        slots,
        grid: (64, 64, 0),
        constants: 0,
        expected,
    };
    // Its last steps are a simdgroup's, without barriers between its lanes.
    let total = Expected::Report("race: kernel fast_sum_f32");
    let shape = || vec![word(64), word(1), Slot::Buffer(words(&[64, 0])), word(64)];
    let sum = shape().into_iter().chain([input(), Slot::Output(1)]).collect();
    let softmax = vec![word(64), word(64), input(), Slot::Output(64)];
    // Its last barrier says `mem_none`, but orders threadgroup memory.
    let race = Expected::Report("race: kernel softmax_f32");
    vec![sort, gather, row("fast_sum_f32", sum, total), row("softmax_f32", softmax, race)]
}

/// A source without the instances that no case runs: there are hundreds, and each takes its time to
/// compile. Files that name their instances in another way stay as they are.
fn lean(source: Source, cases: &[&Case]) -> Source {
    let wanted = |line: &str| {
        cases.iter().any(|case| {
            let stem = case.kernel.trim_end_matches("_f32");
            let names = [format!("({stem},"), format!("({stem})"), format!(" {},", case.kernel)];
            names.iter().chain([&format!("({},", case.kernel)]).any(|name| line.contains(name))
        })
    };
    let instances = ["init_unary", "init_binary", "init_boolean", "impl_", "ROPE("];
    let kept = |line: &str| wanted(line) || !instances.iter().any(|start| line.starts_with(start));
    let (mut text, mut macro_goes_on) = (String::new(), false);
    for line in source.text.lines() {
        // Lines keep their numbers.
        text += if macro_goes_on || kept(line) { line } else { "" };
        text += "\n";
        macro_goes_on = line.ends_with('\\');
    }
    Source { text, ..source }
}

/// The table of `tests/published.md`.
fn table(compiler: &Compiler, folder: &Path) -> String {
    let names =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("entry").file_name());
    let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(".metal"));
    names.sort();
    let cases: Vec<Case> = elementwise().into_iter().chain(rows()).collect();
    let mut text =
        "| file | kernels | checks strictly | run | |\n|---|---|---|---|---|\n".to_owned();
    for name in &names {
        let source = source(folder, name);
        let checked = compiler.check(&source);
        let kernels = checked.as_ref().map_or(0, Vec::len);
        let strictly = checked.map_or_else(|error| error.to_string(), |_| "yes".to_owned());
        let mut notes: Vec<String> = Vec::new();
        let own: Vec<&Case> = cases.iter().filter(|case| case.file == name).collect();
        if !own.is_empty() {
            let library = compiler.compile(&lean(source, &own), Mode::Checked);
            let library = library.unwrap_or_else(|error| panic!("{name}: {error}"));
            for case in &own {
                notes.extend(case.run(&library));
                if let Expected::Report(text) = case.expected {
                    notes.push(format!("{} is wrong: {text}", case.kernel));
                }
            }
        }
        let reason = NOT_RUN.iter().find(|(file, _)| file == name).map(|(_, why)| *why);
        notes.extend(reason.map(str::to_owned));
        let (count, notes) = (own.len(), notes.join("; "));
        text += &format!("| {name} | {kernels} | {strictly} | {count} | {notes} |\n");
    }
    text
}

#[test]
fn published_kernels_check_strictly_and_run() {
    let Some((compiler, folder)) = prepared() else { return };
    let page = include_str!("../published.md");
    let found = table(&compiler, &folder);
    let kept = page.find("| file").map_or("", |start| &page[start..]);
    assert!(kept == found, "tests/published.md should say:\n{found}");
}
