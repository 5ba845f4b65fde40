//! Running the threadgroups of a dispatch on a core, one after the other.
#![expect(unsafe_code, reason = "fibers are started, and arguments written, through pointers")]

use std::ptr;
use std::sync::atomic::Ordering;

use super::arena::Owner;
use super::core::{Core, Wait};
use super::dispatch::Dispatch;
use super::log::Spot;
use super::{fiber, sync};
use crate::abi::{self, builtin};
use crate::report::Kind;

/// Random numbers for orders; any seed will do.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Runs threadgroups until none is left or the launch is over.
pub fn run(core: &Core, dispatch: &Dispatch, worker: usize) {
    core.dispatch.set(dispatch);
    core.killed.set(false);
    core.pulse.overdue.store(0, Ordering::Relaxed);
    core.arena.clear();
    if let Err(error) = core.stacks.guard(dispatch.shape.size.iter().product::<u32>() as usize) {
        let text = format!("the threads' stacks could not be protected: {error}");
        core.report(Kind::Fault, 0, Spot::Kernel, text);
        dispatch.stop.store(true, Ordering::Relaxed);
    }
    let mut arguments = dispatch.arguments;
    for &(index, length) in &dispatch.threadgroup_memory {
        let region = core.arena.region(Owner::Argument(index), length, 16, ptr::null());
        if let (Some(slot), Some(region)) = (arguments.threadgroup.get_mut(index as usize), region)
        {
            *slot = core.arena.start().wrapping_add(region.offset);
        }
    }
    // SAFETY: no fiber runs, so nobody looks at the arguments.
    unsafe { *core.arguments() = arguments };
    let mut random = Random(dispatch.seed.wrapping_mul(0x9e37_79b9) ^ worker as u64);
    while let Some(serial) = dispatch.take() {
        threadgroup(core, dispatch, serial, &mut random);
        if core.killed.get() {
            dispatch.stop.store(true, Ordering::Relaxed);
        }
    }
    core.dispatch.set(ptr::null());
}

/// Runs one threadgroup to its end.
fn threadgroup(core: &Core, dispatch: &Dispatch, serial: u32, random: &mut Random) {
    prepare(core, dispatch, serial);
    let count = core.count.get() as usize;
    let simdgroups = count.div_ceil(abi::LANES);
    for index in 0..simdgroups {
        let lanes = (count - index * abi::LANES).min(abi::LANES);
        muster(core, index, lanes, if dispatch.seed == 0 { None } else { Some(&mut *random) });
    }
    let first = if dispatch.seed == 0 { 0 } else { random.below(simdgroups) };
    loop {
        let mut idle = true;
        for turn in 0..simdgroups {
            let index = (first + turn) % simdgroups;
            if core.simdgroups[index].ready.get() != 0 {
                idle = false;
                enter(core, index);
                if core.killed.get() {
                    return;
                }
            }
        }
        if !idle {
            continue;
        }
        if core.alive.get() == 0 {
            return;
        }
        if core.waiting.get() == core.alive.get() {
            sync::release(core);
        } else {
            sync::stuck(core);
        }
        if core.killed.get() {
            return;
        }
    }
}

/// Sets what all threads of a threadgroup share.
fn prepare(core: &Core, dispatch: &Dispatch, serial: u32) {
    let (position, size) = dispatch.shape.threadgroup(serial);
    let count = size.iter().product::<u32>();
    core.pulse.begun.fetch_add(1, Ordering::Relaxed);
    core.serial.set(serial);
    core.position.set(position);
    core.size.set(size);
    core.count.set(count);
    core.alive.set(count);
    core.waiting.set(0);
    core.steps.set(dispatch.steps);
    for epoch in &core.epochs {
        epoch.set(0);
    }
    core.arena.poison();
    let set = |index: usize, value: [u32; 3]| {
        // SAFETY: no fiber runs, so nobody looks at the arguments.
        unsafe { (*core.arguments()).builtin[index] = value };
    };
    set(builtin::THREADGROUP_POSITION_IN_GRID, position);
    set(builtin::THREADS_PER_THREADGROUP, size);
    set(builtin::SIMDGROUPS_PER_THREADGROUP, [count.div_ceil(32), 0, 0]);
}

/// Gives a simdgroup its lanes, in an order of their own.
fn muster(core: &Core, index: usize, lanes: usize, random: Option<&mut Random>) {
    let simdgroup = &core.simdgroups[index];
    let full = u32::MAX >> (abi::LANES - lanes);
    let mut order: [u8; abi::LANES] = std::array::from_fn(|lane| lane as u8);
    if let Some(random) = random {
        for last in (1..lanes).rev() {
            order.swap(last, random.below(last + 1));
        }
    }
    for (turn, &lane) in order.iter().enumerate().take(lanes) {
        let index = index * abi::LANES + usize::from(lane);
        let thread = core.thread(index);
        simdgroup.order[turn].set(lane);
        thread.turn.set(turn as u32);
        thread.returned.set(false);
        // The place where it waited last may be of a library that is gone.
        thread.wait.set(Wait::NONE);
        thread.uniform.set(0);
        thread.stack.set(core.stacks.fresh(index, sync::begin));
    }
    simdgroup.ready.set(full);
    simdgroup.gathered.set(0);
    simdgroup.arrived.set(0);
    simdgroup.stopped.set(0);
    simdgroup.alive.set(lanes as u32);
    simdgroup.full.set(full);
    for epoch in &simdgroup.epochs {
        epoch.set(0);
    }
    // SAFETY: no fiber runs, so nobody looks at it.
    let shared = unsafe { &mut *core.shared(index) };
    shared.present = full;
    // Beyond the two that `reduced_at` and `matrix_at` can hold from another threadgroup.
    shared.sequence = shared.sequence.wrapping_add(2);
}

/// Lets a simdgroup run until none of its lanes is ready.
fn enter(core: &Core, index: usize) {
    let simdgroup = &core.simdgroups[index];
    let ready = simdgroup.ready.get();
    let turn = ready.trailing_zeros() as usize;
    simdgroup.ready.set(ready & (ready - 1));
    let thread = index * abi::LANES + usize::from(simdgroup.order[turn].get());
    core.current.set(thread);
    core.inside.set(true);
    // SAFETY: the thread's stack is fresh, or was saved when it parked.
    unsafe { fiber::switch(core.scheduler.as_ptr(), core.thread(thread).stack.get()) };
}

/// Writes the built-in values of a thread that is about to begin.
pub fn prepare_arguments(core: &Core, thread: usize) {
    let Some(dispatch) = core.dispatch() else { return };
    // Most threadgroups are lines, which need no division.
    let line = core.size.get()[0] == core.count.get();
    let place = if line { [thread as u32, 0, 0] } else { core.position_of(thread) };
    let origin = core.position.get();
    let sides = dispatch.shape.size;
    let in_grid = std::array::from_fn(|axis| {
        origin[axis].wrapping_mul(sides[axis]).wrapping_add(place[axis])
    });
    // SAFETY: the kernel that begins now is the only reader.
    let values = unsafe { &mut (*core.arguments()).builtin };
    values[builtin::THREAD_POSITION_IN_GRID] = in_grid;
    values[builtin::THREAD_POSITION_IN_THREADGROUP] = place;
    values[builtin::THREAD_INDEX_IN_THREADGROUP][0] = thread as u32;
    values[builtin::THREAD_INDEX_IN_SIMDGROUP][0] = (thread % abi::LANES) as u32;
    values[builtin::SIMDGROUP_INDEX_IN_THREADGROUP][0] = (thread / abi::LANES) as u32;
}
