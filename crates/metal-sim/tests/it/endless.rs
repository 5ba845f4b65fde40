//! Launches that do not end, and kernels that need more than a thread has.

use std::time::Duration;

use metal_sim::{Binding, Grid, Kind, Launch, Mode, Profile, Report, Simulator};

use crate::kernels::{compile, floats};

/// The first report of a kernel of `endless.metal` on 32 threads.
fn run(kernel: &str, mode: Mode, patience: Duration) -> Option<Report> {
    let launch = Launch {
        kernel: compile("kernels/endless.metal", mode)?.kernel(kernel).expect("the kernel"),
        bindings: vec![Binding::whole(0, &floats(&[1.0; 32]))],
        threadgroup_memory: Vec::new(),
        grid: Grid::Threadgroups([1, 1, 1]),
        threads_per_threadgroup: [32, 1, 1],
    };
    let outcome = Simulator { patience, ..Simulator::new(Profile::M1) }.run(&launch);
    assert!(outcome.stopped);
    Some(outcome.reports.into_iter().next().expect("a report"))
}

#[test]
fn a_loop_without_end_is_ended() {
    for mode in [Mode::Fast, Mode::Checked] {
        for (kernel, line) in [("endless", 7), ("silent", 13)] {
            let Some(report) = run(kernel, mode, Duration::from_millis(200)) else { return };
            assert_eq!(report.kind, Kind::Hang, "{report}");
            assert!(report.text.contains("not ended after 200ms of processor time"), "{report}");
            let place = report.place.as_ref().expect("a place");
            assert_eq!(place.line, line, "{report}");
        }
    }
}

#[test]
fn a_frame_larger_than_a_stack_is_no_other_threads_memory() {
    for mode in [Mode::Fast, Mode::Checked] {
        let Some(report) = run("large_frame", mode, Duration::from_secs(60)) else { return };
        assert!(report.text.contains("need more than 64 KiB"), "{report}");
    }
}

#[test]
fn a_kernel_says_how_much_threadgroup_memory_it_has() {
    for mode in [Mode::Fast, Mode::Checked] {
        let Some(library) = compile("kernels/endless.metal", mode) else { return };
        let memory = |name| library.kernel(name).expect("it").static_threadgroup_memory();
        let found = ["room_64", "room_1", "endless"].map(memory);
        assert_eq!(found, [256 + 12, 4 + 12, 0]);
    }
}
