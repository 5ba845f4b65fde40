//! Seeded bugs: every kernel of `tests/bugs` is reported as its comment says, under several orders
//! of lanes, and those marked silent are not.
//!
//! Above a kernel stand `// expect: KIND TEXT` or `// silent`, and `// launch:` with what differs
//! from 128 threads, one threadgroup, 128 floats in buffers 0 and 1, and 128 in buffer 2. Lines
//! that end in `// here` are those that a report may name.

use std::collections::HashMap;

use metal_sim::{Binding, Grid, Launch, Library, Mode, Outcome, Profile, Simulator};

use crate::kernels::{compile, floats, text};

/// A kernel and what its comment says.
struct Bug {
    kernel: String,
    /// Kind and text; none where no report may come.
    expect: Option<(String, String)>,
    launch: HashMap<String, usize>,
}

/// The bugs of a file.
fn bugs(text: &str) -> Vec<Bug> {
    let (mut bugs, mut expect, mut launch, mut marked) = (Vec::new(), None, HashMap::new(), false);
    for line in text.lines() {
        if let Some(what) = line.strip_prefix("// expect: ") {
            let (kind, text) = what.split_once(' ').unwrap_or((what, ""));
            expect = Some((kind.to_owned(), text.to_owned()));
            marked = true;
        } else if line == "// silent" {
            marked = true;
        } else if let Some(what) = line.strip_prefix("// launch: ") {
            for word in what.split(' ') {
                let (name, value) = word.split_once('=').unwrap_or((word, "1"));
                launch.insert(name.to_owned(), value.parse().expect("a number"));
            }
        } else if let Some(rest) = line.strip_prefix("kernel void ") {
            let kernel = rest.split('(').next().unwrap_or(rest).to_owned();
            assert!(marked, "{kernel} has no comment that says what to expect");
            bugs.push(Bug { kernel, expect: expect.take(), launch: std::mem::take(&mut launch) });
            marked = false;
        }
    }
    bugs
}

fn run(library: &Library, bug: &Bug, seed: u64) -> Outcome {
    let number = |name: &str, usual: usize| bug.launch.get(name).copied().unwrap_or(usual);
    let numbers: Vec<f32> = (0..4096).map(|i| i as f32).collect();
    let (x, y) = (number("x", 128), number("y", 128));
    let (input, output) = (floats(&numbers), floats(&vec![0.0; y]));
    if bug.launch.contains_key("poison") {
        output.poison();
    }
    let whole = floats(&numbers[..x]);
    let input = if bug.launch.contains_key("slices") { &input } else { &whole };
    let input = Binding::Buffer { index: 0, memory: input.clone(), offset: 0, length: 4 * x };
    let n = Binding::Bytes { index: 2, bytes: (number("n", 128) as u32).to_le_bytes().to_vec() };
    let local = [(0, number("local", 0)), (1, number("local1", 0))];
    let launch = Launch {
        kernel: library.kernel(&bug.kernel).expect("the kernel"),
        bindings: vec![input, Binding::whole(1, &output), n],
        threadgroup_memory: local.into_iter().filter(|(_, length)| *length > 0).collect(),
        grid: Grid::Threadgroups([number("groups", 1) as u32, 1, 1]),
        threads_per_threadgroup: [number("threads", 128) as u32, 1, 1],
    };
    Simulator { seed, steps: 200_000, ..Simulator::new(Profile::M1) }.run(&launch)
}

/// What is wrong with the reports of a bug.
fn complaint(bug: &Bug, outcome: &Outcome, source: &str) -> Option<String> {
    let all: String = outcome.reports.iter().map(|report| format!("\n  {report}")).collect();
    let Some((kind, text)) = &bug.expect else {
        let silent = outcome.reports.is_empty() && !outcome.stopped;
        return (!silent).then(|| format!("{}: false alarm{all}", bug.kernel));
    };
    let fits = |report: &&metal_sim::Report| {
        report.kind.name() == kind && report.text.contains(text) && report.kernel == bug.kernel
    };
    let Some(report) = outcome.reports.iter().find(fits) else {
        return Some(format!("{}: expected {kind} {text}, found{all}", bug.kernel));
    };
    if report.thread.is_none() || report.threadgroup.is_none() {
        return Some(format!("{}: no thread{all}", bug.kernel));
    }
    let line = report.place.as_ref().map_or(0, |place| place.line as usize);
    let here = source.lines().nth(line.wrapping_sub(1)).unwrap_or_default();
    let marks = source.split(&format!("void {}(", bug.kernel)).nth(1).unwrap_or_default();
    let marked = marks.split("\nkernel").next().is_some_and(|body| body.contains("// here"));
    (marked && !here.ends_with("// here")).then(|| format!("{}: wrong line{all}", bug.kernel))
}

#[track_caller]
fn all_caught(file: &str, least: usize) {
    let source = text(file);
    let Some(library) = compile(file, Mode::Checked) else { return };
    let bugs = bugs(&source);
    assert!(bugs.iter().filter(|bug| bug.expect.is_some()).count() >= least);
    let mut complaints = Vec::new();
    for bug in &bugs {
        for seed in 0..4 {
            let outcome = run(&library, bug, seed);
            complaints.extend(
                complaint(bug, &outcome, &source).map(|text| format!("seed {seed}: {text}")),
            );
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn barriers() {
    all_caught("bugs/barriers.metal", 14);
}

#[test]
fn races() {
    all_caught("bugs/races.metal", 10);
}

#[test]
fn bounds() {
    all_caught("bugs/bounds.metal", 18);
}

#[test]
fn lanes() {
    all_caught("bugs/lanes.metal", 13);
}

#[test]
fn language() {
    all_caught("bugs/language.metal", 13);
}
