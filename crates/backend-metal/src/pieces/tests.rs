use super::*;

fn cuts(milliseconds: &[u64], longest: u64) -> Vec<Range<usize>> {
    let estimates: Vec<_> = milliseconds.iter().map(|ms| Duration::from_millis(*ms)).collect();
    cut(&estimates, Duration::from_millis(longest))
}

#[test]
fn neighbours_share_a_command_buffer_up_to_the_bound() {
    assert_eq!(cuts(&[20, 20, 10, 1, 49, 1, 120, 5], 50), [0..3, 3..5, 5..6, 6..7, 7..8]);
    assert_eq!(cuts(&[5; 4], 50), [Range { start: 0, end: 4 }]);
    assert_eq!(cuts(&[], 50), []);
}

#[test]
fn without_a_bound_each_step_stands_alone() {
    assert_eq!(cuts(&[0, 0, 7], 0), [0..1, 1..2, 2..3]);
}

#[test]
fn there_are_never_more_than_a_queue_takes() {
    let pieces = cuts(&vec![60; 2 * PIECES_MAX + 1], 50);
    assert_eq!((pieces.len(), pieces[0].clone()), ((2 * PIECES_MAX + 1).div_ceil(3), 0..3));
    assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
}
