use super::*;

fn now(group: u32, thread: u16, epoch: u32) -> Moment {
    Moment {
        group,
        settled: 0,
        thread,
        epoch,
        lane_epoch: 0,
        write: false,
        atomic: false,
        blank: false,
    }
}

fn write(now: Moment) -> Moment {
    Moment { write: true, ..now }
}

fn atomic(now: Moment) -> Moment {
    Moment { atomic: true, ..now }
}

/// Whether the last of some accesses to a byte conflicts, and none before.
fn conflicts(moments: &[Moment]) -> bool {
    let mut byte = History::default();
    let (last, before) = moments.split_last().expect("an access");
    for moment in before {
        assert_eq!(byte.add(moment), None);
    }
    byte.add(last).is_some()
}

#[test]
fn threads_of_a_threadgroup_need_a_barrier() {
    assert!(conflicts(&[write(now(1, 0, 0)), now(1, 1, 0)]));
    assert!(conflicts(&[write(now(1, 0, 0)), write(now(1, 1, 0))]));
    assert!(conflicts(&[now(1, 0, 0), write(now(1, 1, 0))]));
    assert!(conflicts(&[now(1, 0, 0), now(1, 40, 0), write(now(1, 0, 0))]));
    assert!(!conflicts(&[write(now(1, 0, 0)), now(1, 1, 1)]));
    assert!(!conflicts(&[now(1, 0, 0), now(1, 40, 0), write(now(1, 0, 1))]));
    assert!(!conflicts(&[write(now(1, 0, 0)), now(1, 0, 0), write(now(1, 0, 0))]));
}

#[test]
fn a_simdgroup_barrier_orders_its_own_lanes() {
    let after = |moment| Moment { lane_epoch: 1, ..moment };
    assert!(!conflicts(&[write(now(1, 0, 0)), after(now(1, 31, 0))]));
    assert!(!conflicts(&[now(1, 0, 0), after(write(now(1, 31, 0)))]));
    assert!(conflicts(&[write(now(1, 0, 0)), after(now(1, 32, 0))]));
    assert!(conflicts(&[now(1, 0, 0), after(write(now(1, 32, 0)))]));
}

#[test]
fn threadgroups_are_not_ordered() {
    assert!(conflicts(&[write(now(1, 0, 0)), now(2, 0, 5)]));
    assert!(conflicts(&[now(1, 0, 0), now(2, 0, 0), write(now(2, 0, 0))]));
    assert!(!conflicts(&[now(1, 0, 0), now(2, 0, 0)]));
    let settled = |moment| Moment { settled: 1, ..moment };
    assert!(!conflicts(&[write(now(1, 0, 0)), settled(write(now(2, 0, 0)))]));
    assert!(!conflicts(&[now(1, 0, 0), settled(now(2, 0, 0)), settled(write(now(2, 0, 0)))]));
}

#[test]
fn atomics_need_no_order_among_themselves() {
    let add = |group, thread| atomic(write(now(group, thread, 0)));
    assert!(!conflicts(&[add(1, 0), add(1, 1), add(2, 0)]));
    assert!(!conflicts(&[atomic(now(1, 0, 0)), add(1, 1)]));
    assert!(conflicts(&[now(1, 0, 0), add(1, 1)]));
    assert!(conflicts(&[add(1, 0), add(1, 1), now(1, 1, 0)]));
    assert!(conflicts(&[add(1, 0), add(2, 0), now(2, 0, 1)]));
    assert!(!conflicts(&[add(1, 0), add(1, 1), now(1, 5, 1)]));
}

#[test]
fn blank_memory_is_written_before_it_is_read() {
    let blank = |moment| Moment { blank: true, settled: 1, ..moment };
    let mut byte = History::default();
    assert_eq!(byte.add(&blank(now(2, 0, 0))), Some(Conflict::Blank));
    assert_eq!(byte.add(&blank(write(now(2, 0, 0)))), None);
    assert_eq!(byte.add(&blank(now(2, 0, 0))), None);
    let next = |moment| Moment { blank: true, settled: 2, ..moment };
    assert_eq!(byte.add(&next(now(3, 0, 0))), Some(Conflict::Blank));
    assert_eq!(byte.add(&next(write(now(3, 1, 0)))), None);
}
