use super::super::race::Other;
use super::*;

fn by(thread: u16, write: bool) -> Moment {
    let (group, settled, epoch, lane_epoch) = (1, 0, 0, 0);
    Moment { group, settled, thread, epoch, lane_epoch, write, atomic: false, blank: false }
}

fn written_by(thread: u16) -> Conflict {
    Conflict::Other(Other { write: true, group: 1, thread: Some(thread) })
}

#[test]
fn the_first_byte_that_two_threads_touch_is_found() -> io::Result<()> {
    let mut histories = Histories::new(64)?;
    assert_eq!(histories.add(16..32, &by(0, true)), None);
    assert_eq!(histories.add(0..18, &by(1, false)), Some((16, written_by(0))));
    assert_eq!(histories.add(32..64, &by(1, false)), None);
    Ok(())
}

#[test]
fn neighbours_in_a_word_are_told_apart() -> io::Result<()> {
    let mut histories = Histories::new(8)?;
    assert_eq!(histories.add(0..2, &by(0, true)), None);
    assert_eq!(histories.add(2..4, &by(1, true)), None);
    assert_eq!(histories.add(0..2, &by(0, false)), None);
    assert_eq!(histories.add(0..4, &by(0, false)), Some((2, written_by(1))));
    assert_eq!(histories.add(1..2, &by(1, false)), Some((1, written_by(0))));
    Ok(())
}

#[test]
fn a_word_is_whole_again_once_its_bytes_agree() -> io::Result<()> {
    let mut histories = Histories::new(4)?;
    assert_eq!(histories.add(0..1, &by(0, true)), None);
    assert!(histories.words.range(0..1)[0].split);
    assert_eq!(histories.add(1..4, &by(0, true)), None);
    assert!(!histories.words.range(0..1)[0].split);
    Ok(())
}

#[test]
fn ranges_that_touch_are_one_part() -> io::Result<()> {
    let mut shadow = Shadow::new(vec![108..120, 98..110, 200..210])?;
    assert_eq!(shadow.parts.len(), 2);
    assert_eq!(shadow.part(&(204..205)), Some(1));
    assert_eq!(shadow.part(&(120..200)), None);
    assert_eq!(shadow.add(1, &(104..112), &by(0, true)), None);
    assert_eq!(shadow.add(0, &(100..108), &by(1, true)), Some((4, written_by(0))));
    Ok(())
}

#[test]
fn large_arrays_are_zeros_too() -> io::Result<()> {
    let mut large = Sparse::<History>::new(LARGE)?;
    assert_eq!(large.get(LARGE - 1), Some(&mut History::default()));
    assert_eq!(large.get(LARGE), None);
    Ok(())
}
