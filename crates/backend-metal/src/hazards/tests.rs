use super::*;

fn access(memory: u32, bytes: Range<usize>, writes: bool) -> Access {
    Access { memory: MemoryId(memory), bytes, writes }
}

#[test]
fn each_kind_of_hazard_needs_a_barrier_and_two_reads_do_not() {
    for (first, second, needed) in
        [(true, false, true), (false, true, true), (true, true, true), (false, false, false)]
    {
        let launches = [vec![access(0, 0..8, first)], vec![access(0, 4..12, second)]];
        assert_eq!(barriers(&launches), [false, needed], "{first} {second}");
    }
}

#[test]
fn neighbours_and_other_memories_need_none() {
    let launches = [
        vec![access(0, 0..8, true)],
        vec![access(0, 8..16, true)],
        vec![access(1, 0..8, true)],
        vec![access(0, 4..4, true)],
    ];
    assert_eq!(barriers(&launches), [false; 4]);
}

#[test]
fn a_barrier_orders_all_that_was_before_it() {
    let launches = [
        vec![access(0, 0..8, true)],
        vec![access(1, 0..8, true)],
        vec![access(0, 0..8, false)],
        vec![access(1, 0..8, false)],
    ];
    assert_eq!(barriers(&launches), [false, false, true, false]);
}

/// Launches that no barrier stands between, in pairs.
fn unordered(barriers: &[bool]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for second in 0..barriers.len() {
        for first in 0..second {
            if !barriers[first + 1..=second].iter().any(|barrier| *barrier) {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

fn sound(launches: &[Vec<Access>], barriers: &[bool]) -> bool {
    unordered(barriers).into_iter().all(|(first, second)| {
        let conflict = |a: &Access| launches[second].iter().any(|b| a.conflicts(b));
        !launches[first].iter().any(conflict)
    })
}

#[test]
fn random_launches_are_ordered_and_every_barrier_is_needed() {
    let mut state = 7_u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % end
    };
    for _ in 0..500 {
        let launches: Vec<Vec<Access>> = (0..1 + below(12))
            .map(|_| {
                let one = |below: &mut dyn FnMut(usize) -> usize| {
                    let start = below(40);
                    access(below(2) as u32, start..start + below(12), below(3) == 0)
                };
                (0..1 + below(3)).map(|_| one(&mut below)).collect()
            })
            .collect();
        let found = barriers(&launches);
        assert!(sound(&launches, &found));
        for at in (0..found.len()).filter(|at| found[*at]) {
            let mut without = found.clone();
            without[at] = false;
            assert!(!sound(&launches, &without), "the barrier before launch {at}");
        }
    }
}
