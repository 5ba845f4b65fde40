//! Counters: bytes, distinct lines, full lines, by buffer.

use metal_sim::{Binding, BufferTraffic, Grid, Launch, Mode, Profile, Simulator, Traffic, Watch};

use crate::kernels::{compile, floats};

fn traffic(kernel: &str, x: usize, groups: u32) -> Option<Traffic> {
    watched(Watch::Mistakes, kernel, x, groups)
}

fn watched(watch: Watch, kernel: &str, x: usize, groups: u32) -> Option<Traffic> {
    let launch = Launch {
        kernel: compile("kernels/traffic.metal", Mode::Checked)?.kernel(kernel).expect("it"),
        bindings: vec![
            Binding::whole(0, &floats(&vec![1.0; x])),
            Binding::whole(1, &floats(&vec![0.0; 32 * groups as usize])),
        ],
        threadgroup_memory: Vec::new(),
        grid: Grid::Threadgroups([groups, 1, 1]),
        threads_per_threadgroup: [32, 1, 1],
    };
    let outcome = Simulator { seed: 3, watch, ..Simulator::new(Profile::M1) }.run(&launch);
    assert!(outcome.reports.is_empty(), "{}", outcome.reports[0]);
    outcome.traffic.into_iter().next()
}

/// Bytes read and written, lines read, written and full.
fn counts(buffer: &BufferTraffic) -> [u64; 5] {
    let BufferTraffic { read, written, lines_read, lines_written, lines_full, .. } = *buffer;
    [read, written, lines_read, lines_written, lines_full]
}

#[test]
fn each_byte_once() {
    let Some(traffic) = traffic("copy", 128, 4) else { return };
    assert_eq!(traffic.kernel, "copy");
    assert_eq!(traffic.buffers.iter().map(|buffer| buffer.index).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(counts(&traffic.buffers[0]), [512, 0, 8, 0, 8]);
    assert_eq!(counts(&traffic.buffers[1]), [0, 512, 0, 8, 0]);
    assert_eq!(traffic.bytes(), 1024);
    assert!((traffic.buffers[0].reread() - 1.0).abs() < 1e-9);
}

#[test]
fn a_value_costs_its_line() {
    let Some(traffic) = traffic("stride", 16 * 32, 1) else { return };
    assert_eq!(counts(&traffic.buffers[0]), [128, 0, 32, 0, 0]);
}

#[test]
fn what_each_threadgroup_reads_counts_once_as_lines() {
    let Some(traffic) = traffic("all_by_each", 128, 4) else { return };
    assert_eq!(counts(&traffic.buffers[0]), [2048, 0, 8, 0, 8]);
    assert!((traffic.buffers[0].reread() - 4.0).abs() < 1e-9);
    assert_eq!((traffic.threadgroup_read, traffic.threadgroup_written), (2048, 2048));
}

#[test]
fn a_line_that_two_threadgroups_share_is_not_full() {
    let Some(traffic) = traffic("half_lines", 64, 2) else { return };
    assert_eq!(counts(&traffic.buffers[0]), [256, 0, 4, 0, 0]);
}

#[test]
fn traffic_alone_is_the_same() {
    for (kernel, x, groups) in [("copy", 128, 4), ("all_by_each", 128, 4), ("half_lines", 64, 2)] {
        let Some(full) = traffic(kernel, x, groups) else { return };
        assert_eq!(watched(Watch::Traffic, kernel, x, groups), Some(full));
    }
}

#[test]
fn lanes_share_lines_or_do_not() {
    let Some(copy) = watched(Watch::Coalescing, "copy", 128, 4) else { return };
    for buffer in &copy.buffers {
        // A load or store of 128 bytes by each of four simdgroups: two lines each.
        assert_eq!([buffer.accesses, buffer.access_lines, buffer.access_lines_least], [4, 8, 8]);
    }
    let Some(stride) = watched(Watch::Coalescing, "stride", 512, 1) else { return };
    let x = &stride.buffers[0];
    assert_eq!([x.accesses, x.access_lines, x.access_lines_least], [1, 32, 2]);
    assert!((x.coalescing() - 2.0 / 32.0).abs() < 1e-9);
    let Some(each) = watched(Watch::Coalescing, "all_by_each", 128, 4) else { return };
    assert_eq!(each.buffers[0].accesses, 16);
}
