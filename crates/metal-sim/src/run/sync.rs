//! Rendezvous: where threads wait for each other, and what it means when they do not come alike.
#![expect(unsafe_code, reason = "the simdgroup's state is shared with the kernel")]

use std::sync::atomic::Ordering;

use super::core::{Core, Wait};
use super::host;
use super::log::{Spot, point};
use crate::abi::{self, memory, rendezvous};
use crate::report::Kind;

/// What reports call a kind of rendezvous.
fn name(kind: u32) -> &'static str {
    match kind {
        rendezvous::REDUCTION => "simd reduction",
        rendezvous::SHUFFLE => "simd shuffle",
        rendezvous::VOTE => "simd vote",
        rendezvous::MATRIX => "simdgroup matrix operation",
        rendezvous::SIMDGROUP_BARRIER => "simdgroup_barrier",
        rendezvous::THREADGROUP_BARRIER => "threadgroup_barrier",
        _ => "rendezvous",
    }
}

/// How reports call a call.
fn describe(wait: Wait) -> String {
    let site = wait.site();
    format!("{} (line {}:{})", name(wait.kind()), site.line, site.column)
}

/// The running thread has come to a rendezvous; returns when it may go on.
#[inline(always)]
pub fn arrive(core: &Core, wait: Wait) {
    let thread = core.current.get();
    core.thread(thread).wait.set(wait);
    let steps = core.steps.get();
    if steps == 0 {
        hang(core, Spot::of(wait.site()));
    }
    core.steps.set(steps - 1);
    if wait.kind() == rendezvous::THREADGROUP_BARRIER {
        stop_at_barrier(core, thread, wait);
    } else {
        gather(core, thread, wait);
    }
}

/// The steps are used up, or the time; or the launch is over.
#[cold]
pub fn hang(core: &Core, spot: Spot) -> ! {
    let dispatch = core.dispatch().filter(|_| !core.killed.get());
    let Some(dispatch) = dispatch else { core.kill() };
    let what = if core.pulse.overdue.load(Ordering::Relaxed) == 0 {
        format!("{} accesses and collectives", dispatch.steps)
    } else {
        format!("{:?} of processor time", dispatch.patience)
    };
    core.fail(Kind::Hang, spot, format!("the threadgroup has not ended after {what}"))
}

fn stop_at_barrier(core: &Core, thread: usize, wait: Wait) {
    let waiting = core.waiting.get();
    if waiting == 0 {
        core.barrier.set(wait);
        core.barrier_first.set(thread);
    } else if !wait.same(core.barrier.get()) {
        other_barrier(core, wait);
    }
    core.waiting.set(waiting + 1);
    let simdgroup = core.simdgroup_of(thread);
    simdgroup.stopped.set(simdgroup.stopped.get() | 1 << core.thread(thread).turn.get());
    core.park(thread);
}

#[cold]
fn other_barrier(core: &Core, wait: Wait) -> ! {
    let first = point(core.position_of(core.barrier_first.get()));
    let other = describe(core.barrier.get());
    let here = describe(wait);
    let text = format!("waits at {here} while thread {first} waits at {other}");
    core.fail(Kind::BarrierDivergence, Spot::of(wait.site()), text)
}

#[inline(always)]
fn gather(core: &Core, thread: usize, wait: Wait) {
    let simdgroup = core.simdgroup_of(thread);
    let me = core.thread(thread);
    let arrived = simdgroup.arrived.get();
    if arrived == 0 {
        simdgroup.wait.set(wait);
        simdgroup.uniform.set(me.uniform.get());
    } else if !wait.same(simdgroup.wait.get()) || simdgroup.uniform.get() != me.uniform.get() {
        disagree(core, thread, wait);
    }
    let gathered = simdgroup.gathered.get();
    if arrived + 1 < simdgroup.alive.get() {
        simdgroup.arrived.set(arrived + 1);
        simdgroup.gathered.set(gathered | 1 << me.turn.get());
        core.park(thread);
        return;
    }
    let shared = core.shared(thread / abi::LANES);
    // SAFETY: only this system thread touches it, and no reference to it lives elsewhere now.
    let shared = unsafe { &mut *shared };
    if shared.present != simdgroup.full.get() {
        incomplete(core, thread, wait, shared.present);
    }
    shared.mask[(shared.sequence & 1) as usize] = shared.present;
    shared.sequence = shared.sequence.wrapping_add(1);
    if wait.kind() == rendezvous::SIMDGROUP_BARRIER {
        advance(&simdgroup.epochs, wait.flags());
    }
    simdgroup.gathered.set(0);
    simdgroup.arrived.set(0);
    simdgroup.ready.set(gathered);
}

/// Counts a barrier for the memory that its flags name.
fn advance(epochs: &[std::cell::Cell<u32>; 2], flags: u32) {
    for (epoch, flag) in epochs.iter().zip([memory::DEVICE, memory::THREADGROUP]) {
        if flags & flag != 0 {
            epoch.set(epoch.get().wrapping_add(1));
        }
    }
}

#[cold]
fn disagree(core: &Core, thread: usize, wait: Wait) -> ! {
    let other = core.simdgroup_of(thread).wait.get();
    let text = if wait.same(other) {
        "the lanes of a simdgroup gave different pointers or strides to a matrix load or store \
         before this"
            .to_owned()
    } else {
        let lane = thread % abi::LANES;
        let (here, there) = (describe(wait), describe(other));
        format!("lane {lane} is at a {here} while another lane of its simdgroup waits at a {there}")
    };
    core.fail(Kind::SimdDivergence, Spot::of(wait.site()), text)
}

#[cold]
fn incomplete(core: &Core, thread: usize, wait: Wait, present: u32) -> ! {
    let full = core.simdgroup_of(thread).full.get();
    let what = name(wait.kind());
    let text = format!("a {what} with lanes {present:08x} of {full:08x}: the others have returned");
    core.fail(Kind::SimdDivergence, Spot::of(wait.site()), text)
}

/// Where a fresh fiber begins: the kernel, then its end.
pub extern "C" fn begin() -> ! {
    let Some(core) = host::core() else { std::process::abort() };
    let thread = core.current.get();
    super::schedule::prepare_arguments(core, thread);
    if let Some(dispatch) = core.dispatch() {
        (dispatch.kernel.call)(core.arguments());
    }
    finish(core, thread)
}

fn finish(core: &Core, thread: usize) -> ! {
    let simdgroup = core.simdgroup_of(thread);
    let alive = simdgroup.alive.get() - 1;
    simdgroup.alive.set(alive);
    core.alive.set(core.alive.get() - 1);
    core.thread(thread).returned.set(true);
    let shared = core.shared(thread / abi::LANES);
    // SAFETY: only this system thread touches it, and no reference to it lives elsewhere now.
    unsafe { (*shared).present &= !(1 << (thread % abi::LANES)) };
    let gathered = simdgroup.gathered.get();
    if gathered != 0 && gathered.count_ones() == alive {
        let wait = simdgroup.wait.get();
        let there = describe(wait);
        let text = format!("returned while the other lanes of its simdgroup wait at a {there}");
        core.fail(Kind::SimdDivergence, Spot::of(wait.site()), text);
    }
    if core.killed.get() {
        core.kill();
    }
    let target = core.next(thread);
    core.leave(target)
}

/// All threads that have not returned wait at one barrier: lets them go on.
pub fn release(core: &Core) {
    let wait = core.barrier.get();
    let (alive, count) = (core.alive.get(), core.count.get());
    let first = core.barrier_first.get();
    if alive < count {
        let gone = (0..count as usize).find(|&thread| core.thread(thread).returned.get());
        let gone = point(core.position_of(gone.unwrap_or(0)));
        let text = format!(
            "threadgroup_barrier reached by {alive} of {count} threads; {} had returned, \
             for one thread {gone}",
            count - alive
        );
        core.report(Kind::BarrierDivergence, first, Spot::of(wait.site()), text);
        core.killed.set(true);
        return;
    }
    advance(&core.epochs, wait.flags());
    core.passed.set(core.passed.get().wrapping_add(1));
    core.waiting.set(0);
    for simdgroup in core.simdgroups.iter().take(count.div_ceil(32) as usize) {
        simdgroup.ready.set(simdgroup.stopped.get());
        simdgroup.stopped.set(0);
    }
}

/// No thread can go on: some wait at a collective for lanes that wait at a barrier.
pub fn stuck(core: &Core) {
    core.killed.set(true);
    for thread in 0..core.count.get() as usize {
        let simdgroup = core.simdgroup_of(thread);
        if simdgroup.gathered.get() >> core.thread(thread).turn.get() & 1 == 0 {
            continue;
        }
        let wait = core.thread(thread).wait.get();
        let (here, alive) = (describe(wait), simdgroup.alive.get());
        let reached = simdgroup.gathered.get().count_ones();
        let text = format!(
            "waits at a {here} that {reached} of {alive} lanes reach; the others wait at a {}",
            describe(core.barrier.get())
        );
        core.report(Kind::SimdDivergence, thread, Spot::of(wait.site()), text);
        return;
    }
}
