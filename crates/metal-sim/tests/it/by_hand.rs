//! The runtime alone: a library written by hand against `shim/abi.h`.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use metal_sim::{Binding, Grid, Kind, Launch, Library, Memory, Outcome, Profile, Simulator};

fn library() -> Library {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let path = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let status = Command::new("clang++-19")
            .args(["-std=c++17", "-O2", "-gline-tables-only", "-fPIC", "-shared", "-nostdlib"])
            .arg(format!("-I{}", here.join("shim").display()))
            .arg(here.join("tests/kernels/by_hand.cpp"))
            .arg("-o")
            .arg(folder.path().join("by_hand.so"))
            .status()
            .expect("clang++-19");
        assert!(status.success());
        folder
    });
    Library::open(&path.path().join("by_hand.so")).expect("a library")
}

fn floats(values: &[f32]) -> Arc<Memory> {
    Memory::of(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
        .expect("memory")
}

fn read(memory: &Memory) -> Vec<f32> {
    let bytes = memory.read();
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four"))).collect()
}

fn launch(kernel: &str, x: &Arc<Memory>, y: &Arc<Memory>, grid: Grid, threads: u32) -> Launch {
    Launch {
        kernel: library().kernel(kernel).expect("a kernel"),
        bindings: vec![Binding::whole(0, x), Binding::whole(1, y)],
        threadgroup_memory: Vec::new(),
        grid,
        threads_per_threadgroup: [threads, 1, 1],
    }
}

/// Runs a kernel over 128 threads of one threadgroup.
fn one(kernel: &str) -> Outcome {
    let (x, y) = (floats(&[1.0; 128]), floats(&[0.0; 128]));
    let simulator = Simulator { steps: 1_000_000, ..Simulator::new(Profile::M1) };
    simulator.run(&launch(kernel, &x, &y, Grid::Threadgroups([1, 1, 1]), 128))
}

#[test]
fn threads_read_and_write() {
    if crate::require().is_none() {
        return;
    }
    let x = floats(&(0..1000).map(|i| i as f32).collect::<Vec<_>>());
    for workers in [1, 2] {
        for seed in [0, 1, 2] {
            let y = floats(&[0.0; 1000]);
            let simulator = Simulator { workers, seed, ..Simulator::new(Profile::M1) };
            let launch = launch("twice", &x, &y, Grid::Threads([1000, 1, 1]), 96);
            let outcome = simulator.run(&launch);
            assert!(outcome.reports.is_empty() && !outcome.stopped, "{:?}", outcome.reports);
            assert_eq!(read(&y), (0..1000).map(|i| 2.0 * i as f32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn lanes_and_simdgroups_meet() {
    if crate::require().is_none() {
        return;
    }
    let x = floats(&(0..1024).map(|i| i as f32).collect::<Vec<_>>());
    for seed in 0..5 {
        let y = floats(&[0.0; 4]);
        let simulator = Simulator { seed, workers: 2, ..Simulator::new(Profile::M1) };
        let launch = launch("sums", &x, &y, Grid::Threadgroups([4, 1, 1]), 256);
        let outcome = simulator.run(&launch);
        assert!(outcome.reports.is_empty(), "{:?}", outcome.reports);
        let sum = |group: u32| (group * 256..(group + 1) * 256).map(|i| i as f32).sum::<f32>();
        assert_eq!(read(&y), [sum(0), sum(1), sum(2), sum(3)]);
    }
}

#[track_caller]
fn expect(outcome: &Outcome, kind: Kind, text: &str) {
    assert!(outcome.stopped);
    let report = outcome.reports.first().expect("a report");
    assert_eq!(report.kind, kind, "{report}");
    assert!(report.to_string().contains(text), "{report}");
}

#[test]
fn threads_that_do_not_come_alike_are_named() {
    if crate::require().is_none() {
        return;
    }
    expect(
        &one("early"),
        Kind::BarrierDivergence,
        "reached by 100 of 128 threads; 28 had returned",
    );
    expect(&one("halves"), Kind::SimdDivergence, "the other lanes of its simdgroup wait");
}

#[test]
fn faults_end_the_launch_alone() {
    if crate::require().is_none() {
        return;
    }
    for _ in 0..3 {
        expect(&one("beyond"), Kind::Fault, "buffer(1) 'y': offset 512, length 512");
        expect(&one("bottomless"), Kind::Fault, "need more than 64 KiB");
        expect(&one("divide"), Kind::Undefined, "division by zero");
        assert!(one("twice").reports.is_empty());
    }
}

#[test]
fn a_launch_that_does_not_end_is_ended() {
    if crate::require().is_none() {
        return;
    }
    expect(&one("for_ever"), Kind::Hang, "1000000 accesses and collectives");
}

#[test]
fn a_report_says_where() {
    if crate::require().is_none() {
        return;
    }
    let outcome = one("beyond");
    let report = outcome.reports.first().expect("a report").to_string();
    let source = include_str!("../kernels/by_hand.cpp");
    let line = source.lines().position(|line| line.contains("THREADS_PER_GRID][0]] = 1"));
    let start = format!("by_hand.cpp:{}:", line.expect("the line") + 1);
    assert!(report.starts_with(&start), "{report}");
    let rest = ": fault: kernel beyond, thread (0,0,0) of threadgroup (0,0,0): access outside";
    assert!(report.contains(rest), "{report}");
}
