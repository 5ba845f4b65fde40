use super::*;

#[test]
fn parts_are_lent_apart() {
    let mut arena = Arena::new(256).unwrap();
    arena.get_mut(64..128).unwrap().fill(7);
    let views = arena.lend(&[0..64, 128..192], &[Some(64..128), None, Some(0..64)]).unwrap();
    assert!(matches!(views.reads[0], Read::Bytes(bytes) if bytes == [7; 64]));
    assert!(matches!(views.reads[1], Read::None));
    assert!(matches!(views.reads[2], Read::InPlace(0)));
    views.writes[1].fill(9);
    assert_eq!(arena.get(128..192).unwrap(), [9; 64]);
    assert_eq!(arena.get(192..256).unwrap(), [0; 64]);
}

#[test]
fn overlap_and_excess_are_refused() {
    let mut arena = Arena::new(256).unwrap();
    assert!(arena.lend(&[0..64, 63..100], &[]).is_err());
    assert!(arena.lend(&[0..64, 0..0], &[Some(32..96)]).is_err());
    assert!(arena.lend(&[0..257, 0..0], &[]).is_err());
    assert!(arena.lend(&[], &[Some(250..260)]).is_err());
    assert!(arena.lend(&[0..1, 1..2, 2..3], &vec![Some(3..4); MAX_VIEWS + 1]).is_err());
    assert!(arena.lend(&[0..64, 0..0], &[Some(64..96), Some(70..90)]).is_ok(), "readers may share");
}

#[test]
fn memory_is_zero_and_aligned_and_may_be_refused() {
    let arena = Arena::new(1000).unwrap();
    assert!(arena.get(0..1000).unwrap().iter().all(|byte| *byte == 0));
    assert_eq!(arena.get(0..1).unwrap().as_ptr().align_offset(64), 0);
    assert!(Arena::new(usize::MAX).is_none());
    // Seen by the compiler as used, so that it really asks for the memory.
    let huge = std::hint::black_box(Arena::new(std::hint::black_box(isize::MAX as usize - 100)));
    assert!(huge.is_none());
}
