//! Launches of one encoder that may run at once: what a missing barrier leaves undecided.

use std::sync::Arc;

use metal_sim::{Binding, Grid, Kind, Launch, Library, Memory, Mode, Outcome, Profile, Simulator};

use crate::kernels::{compile, floats, read};

/// A launch of `launches.metal` from one slice of floats to another.
fn step(
    library: &Library,
    kernel: &str,
    x: (&Arc<Memory>, usize),
    y: (&Arc<Memory>, usize),
) -> Launch {
    let slice = |index, (memory, first): (&Arc<Memory>, usize)| Binding::Buffer {
        index,
        memory: Arc::clone(memory),
        offset: 4 * first,
        length: 256,
    };
    Launch {
        kernel: library.kernel(kernel).expect("the kernel"),
        bindings: vec![slice(0, x), slice(1, y)],
        threadgroup_memory: Vec::new(),
        grid: Grid::Threadgroups([2, 1, 1]),
        threads_per_threadgroup: [32, 1, 1],
    }
}

fn library() -> Option<Library> {
    compile("kernels/launches.metal", Mode::Checked)
}

fn run(launches: &[Launch], barriers: &[bool]) -> Outcome {
    Simulator::new(Profile::M1).run_concurrent(launches, barriers)
}

#[track_caller]
fn undecided(launches: &[Launch], text: &str) {
    let barriers: Vec<bool> = launches.iter().map(|_| true).collect();
    let outcome = run(launches, &barriers);
    assert!(outcome.reports.is_empty(), "{}", outcome.reports[0]);
    let outcome = run(launches, &[]);
    let report = outcome.reports.first().expect("a report");
    assert_eq!(report.kind, Kind::LaunchRace, "{report}");
    assert!(report.to_string().contains(text), "{report}");
}

#[test]
fn a_launch_that_reads_what_another_writes_needs_a_barrier() {
    let Some(library) = library() else { return };
    let [a, b, c] = [floats(&[1.0; 64]), floats(&[0.0; 64]), floats(&[0.0; 64])];
    let launches =
        [step(&library, "twice", (&a, 0), (&b, 0)), step(&library, "twice", (&b, 0), (&c, 0))];
    undecided(&launches, "read of buffer(0) 'x' at offset 0, which was written by kernel twice");
    assert_eq!(read(&c), [4.0; 64]);
}

#[test]
fn so_does_one_that_writes_what_another_reads() {
    let Some(library) = library() else { return };
    let [a, b, c] = [floats(&[1.0; 64]), floats(&[0.0; 64]), floats(&[0.0; 64])];
    let launches =
        [step(&library, "twice", (&a, 0), (&b, 0)), step(&library, "twice", (&c, 0), (&a, 0))];
    undecided(&launches, "write of buffer(1) 'y' at offset 0, which was read by kernel twice");
}

#[test]
fn so_do_two_that_write_one_place() {
    let Some(library) = library() else { return };
    let [a, b] = [floats(&[1.0; 64]), floats(&[0.0; 64])];
    let launches =
        [step(&library, "twice", (&a, 0), (&b, 0)), step(&library, "twice", (&a, 0), (&b, 0))];
    undecided(&launches, "which was written by kernel twice");
}

#[test]
fn a_barrier_counts_for_all_launches_before_it() {
    let Some(library) = library() else { return };
    let [a, b, c] = [floats(&[1.0; 64]), floats(&[0.0; 64]), floats(&[0.0; 64])];
    let launches = [
        step(&library, "twice", (&a, 0), (&b, 0)),
        step(&library, "twice", (&a, 0), (&c, 0)),
        step(&library, "twice", (&b, 0), (&a, 0)),
    ];
    assert!(run(&launches, &[false, false, true]).reports.is_empty());
    let outcome = run(&launches, &[false, true, false]);
    assert_eq!(outcome.reports.first().map(|report| report.kind), Some(Kind::LaunchRace));
}

#[test]
fn slices_side_by_side_and_readers_need_none() {
    let Some(library) = library() else { return };
    let [a, b] = [floats(&[1.0; 64]), floats(&[0.0; 128])];
    let launches =
        [step(&library, "twice", (&a, 0), (&b, 0)), step(&library, "twice", (&a, 0), (&b, 64))];
    let outcome = run(&launches, &[]);
    assert!(outcome.reports.is_empty(), "{}", outcome.reports[0]);
    assert_eq!(outcome.traffic.len(), 2);
    let overlapping =
        [step(&library, "twice", (&a, 0), (&b, 0)), step(&library, "twice", (&a, 0), (&b, 60))];
    assert!(!run(&overlapping, &[]).reports.is_empty());
}

#[test]
fn the_rest_is_not_run_after_a_failure() {
    let Some(library) = library() else { return };
    let [a, b, c] = [floats(&[1.0; 64]), floats(&[0.0; 64]), floats(&[0.0; 64])];
    let launches =
        [step(&library, "astray", (&a, 0), (&b, 0)), step(&library, "twice", (&a, 0), (&c, 0))];
    let outcome = run(&launches, &[false, true]);
    assert!(outcome.stopped);
    assert_eq!(read(&c), [0.0; 64]);
}

#[test]
fn what_a_fast_kernel_may_have_written_counts_as_written() {
    let Some(checked) = library() else { return };
    let Some(fast) = compile("kernels/launches.metal", Mode::Fast) else { return };
    let [a, b, c] = [floats(&[1.0; 64]), floats(&[0.0; 64]), floats(&[0.0; 64])];
    b.poison();
    let second = step(&checked, "twice", (&b, 0), (&c, 0));
    let outcome = run(std::slice::from_ref(&second), &[]);
    assert_eq!(outcome.reports.first().map(|report| report.kind), Some(Kind::Uninitialised));
    assert!(run(&[step(&fast, "twice", (&a, 0), (&b, 0))], &[]).reports.is_empty());
    assert!(run(&[second], &[]).reports.is_empty());
    assert_eq!(read(&c), [4.0; 64]);
}
