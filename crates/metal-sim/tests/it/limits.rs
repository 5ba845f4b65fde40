//! What is found before a launch runs: missing arguments, and more than the GPU has.

use std::sync::Arc;

use metal_sim::{Binding, Grid, Kind, Launch, Memory, Mode, Profile, Simulator};

use crate::kernels::{compile, floats};

/// A launch of `limits.metal` that is in order.
fn sound(kernel: &str) -> Option<Launch> {
    let library = compile("kernels/limits.metal", Mode::Fast)?;
    Some(Launch {
        kernel: library.kernel(kernel).expect("the kernel"),
        bindings: vec![
            Binding::whole(0, &floats(&[1.0; 128])),
            Binding::whole(1, &floats(&[0.0; 128])),
            Binding::Bytes { index: 2, bytes: vec![0; 16] },
        ],
        threadgroup_memory: vec![(0, 512)],
        grid: Grid::Threadgroups([1, 1, 1]),
        threads_per_threadgroup: [128, 1, 1],
    })
}

/// A sound launch, changed, is refused with this text.
#[track_caller]
fn refused(kind: Kind, text: &str, change: impl FnOnce(&mut Launch)) {
    refused_by(&Profile::M1, "scale", kind, text, change);
}

#[track_caller]
fn refused_by(
    profile: &Profile,
    kernel: &str,
    kind: Kind,
    text: &str,
    change: impl FnOnce(&mut Launch),
) {
    let Some(mut launch) = sound(kernel) else { return };
    change(&mut launch);
    let outcome = Simulator::new(*profile).run(&launch);
    assert!(outcome.stopped);
    let report = outcome.reports.first().expect("a report");
    assert_eq!(report.kind, kind, "{report}");
    assert!(report.to_string().contains(text), "{report}");
    assert!(report.to_string().starts_with("kernels/limits.metal:"), "{report}");
}

#[test]
fn a_sound_launch_is_silent() {
    for kernel in ["scale", "at_most_64", "large_threadgroup"] {
        let Some(mut launch) = sound(kernel) else { return };
        if kernel == "at_most_64" {
            launch.threads_per_threadgroup = [64, 1, 1];
        }
        let outcome = Simulator::default().run(&launch);
        assert!(outcome.reports.is_empty(), "{:?}", outcome.reports);
    }
}

#[test]
fn arguments_must_be_there() {
    refused(Kind::Binding, "nothing is bound to 'x' [[buffer(0)]]", |launch| {
        launch.bindings.remove(0);
    });
    refused(Kind::Binding, "no threadgroup memory for 's' [[threadgroup(0)]]", |launch| {
        launch.threadgroup_memory.clear();
    });
    refused(Kind::Binding, "'shape' [[buffer(2)]] takes 16 bytes, 8 are bound", |launch| {
        launch.bindings[2] = Binding::Bytes { index: 2, bytes: vec![0; 8] };
    });
}

#[test]
fn slices_must_fit() {
    let slice =
        |offset, length| Binding::Buffer { index: 0, memory: floats(&[0.0; 128]), offset, length };
    refused(Kind::Binding, "bound to 500 bytes from offset 16 of a buffer of 512", |launch| {
        launch.bindings[0] = slice(16, 500);
    });
    refused(Kind::Misaligned, "bound at offset 6; its type needs multiples of 4", |launch| {
        launch.bindings[0] = slice(6, 128);
    });
}

#[test]
fn threads_are_counted() {
    refused(Kind::Limits, "1025 threads in a threadgroup; allowed are 1 to 1024", |launch| {
        launch.threads_per_threadgroup = [1025, 1, 1];
    });
    refused(Kind::Limits, "4096 threads in a threadgroup", |launch| {
        launch.threads_per_threadgroup = [16, 16, 16];
    });
    refused(Kind::Limits, "0 threads in a threadgroup", |launch| {
        launch.threads_per_threadgroup = [32, 0, 1];
    });
    refused(Kind::Limits, "has no threads", |launch| {
        launch.grid = Grid::Threads([0, 1, 1]);
    });
    refused(Kind::Limits, "has no threads or too many", |launch| {
        launch.grid = Grid::Threadgroups([1 << 20, 1 << 20, 1]);
    });
    let small = Profile::SMALL;
    refused_by(&small, "scale", Kind::Limits, "allowed are 1 to 512", |launch| {
        launch.threads_per_threadgroup = [513, 1, 1];
    });
    refused_by(&Profile::M1, "at_most_64", Kind::Limits, "allowed are 1 to 64", |_| {});
}

#[test]
fn threadgroup_memory_is_counted() {
    refused(Kind::Limits, "40960 bytes of threadgroup memory; the GPU has 32768", |launch| {
        launch.threadgroup_memory = vec![(0, 40960)];
    });
    refused(Kind::Limits, "40000 bytes of threadgroup memory; the GPU has 32768", |launch| {
        launch.threadgroup_memory = vec![(0, 20000), (1, 20000)];
    });
    refused(
        Kind::Limits,
        "1000 bytes of threadgroup memory at index 0: not a multiple",
        |launch| {
            launch.threadgroup_memory = vec![(0, 1000)];
        },
    );
    let small = Profile::SMALL;
    let text = "bytes of threadgroup memory; the GPU has 16384";
    refused_by(&small, "large_threadgroup", Kind::Limits, text, |_| {});
    // Static and dynamic memory count together.
    refused_by(&Profile::M1, "large_threadgroup", Kind::Limits, "the GPU has 32768", |launch| {
        launch.threadgroup_memory = vec![(0, 16384)];
    });
}

#[test]
fn buffers_and_bytes_have_limits() {
    refused(Kind::Limits, "is given 5000 bytes; setBytes takes 4096", |launch| {
        launch.bindings[2] = Binding::Bytes { index: 2, bytes: vec![0; 5000] };
    });
    refused(Kind::Limits, "a buffer at index 31; the last is 30", |launch| {
        launch.bindings.push(Binding::Bytes { index: 31, bytes: vec![0; 4] });
    });
    let tight = Profile { max_buffer_length: 256, ..Profile::M1 };
    refused_by(&tight, "scale", Kind::Limits, "512 bytes; the GPU allows 256", |_| {});
}

#[test]
fn profiles_differ_where_chips_do() {
    for profile in Profile::ALL {
        assert!(profile.max_buffer_length < profile.recommended_working_set, "{}", profile.name);
        assert!(profile.argument_bytes == 4096);
    }
    let families = Profile::ALL.map(|profile| profile.family);
    assert_eq!(families, [7, 8, 9, 9, 10, 7]);
}

#[test]
fn memory_ends_at_a_guard_page() {
    let memory = Memory::alloc(1024).expect("memory");
    assert_eq!(memory.ptr() as usize % 256, 0);
    assert_eq!((memory.ptr() as usize + 1024) % 4096, 0);
    assert!(memory.read().iter().all(|&byte| byte == 0));
    memory.poison();
    assert!(memory.read().iter().all(|&byte| byte == 0xff));
    memory.write(1020, &[1; 100]);
    assert_eq!(memory.read()[1016..], [0xff, 0xff, 0xff, 0xff, 1, 1, 1, 1]);
    let error = Memory::alloc(usize::MAX / 2).map(drop).expect_err("no such memory").to_string();
    assert!(error.contains("could not be mapped"), "{error}");
    assert_eq!(Arc::strong_count(&memory), 1);
}
