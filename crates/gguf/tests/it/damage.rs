//! A good file, damaged at every place of its head: each damaged file is refused or loads, and one
//! that loads can be used.

use minfer_gguf::File;

use crate::child::use_everything;
use crate::raw::Raw;

#[test]
fn a_file_cut_anywhere_is_refused() {
    let raw = Raw::base();
    let (file, head) = (raw.build(), raw.head().len());
    let in_data = (head..file.len()).step_by((file.len() - head) / 1000);
    for end in (0..head).chain(in_data) {
        assert!(File::from_bytes(file[..end].to_vec()).is_err(), "cut at {end}");
    }
}

#[test]
fn a_head_with_any_bit_flipped_is_refused_or_usable() {
    let raw = Raw::base();
    let (file, head) = (raw.build(), raw.head().len());
    let (mut refused, mut loaded) = (0, 0);
    for offset in 0..head {
        let flips = (0..8).map(|bit| file[offset] ^ (1 << bit));
        for damage in flips.chain([0x00, 0x7f, 0x80, 0xff]) {
            let mut damaged = file.clone();
            damaged[offset] = damage;
            match File::from_bytes(damaged) {
                Ok(file) => {
                    loaded += 1;
                    use_everything(&file);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert_eq!(refused + loaded, head * 12);
    assert!(refused > 20_000 && loaded > 20_000, "{refused} refused, {loaded} loaded");
}

#[test]
fn a_head_with_numbers_overwritten_is_refused_or_usable() {
    let raw = Raw::base();
    let (file, head) = (raw.build(), raw.head().len());
    let numbers = [0, 1, 31, 255, 1 << 16, 1 << 24, 1 << 31, u64::MAX >> 32, 1 << 32, 1 << 61];
    let numbers = [&numbers[..], &[1 << 63, u64::MAX - 31, u64::MAX]].concat();
    let mut refused = 0;
    for offset in 0..head - 8 {
        let number = numbers[offset % numbers.len()].to_le_bytes();
        for width in [2, 4, 8] {
            let mut damaged = file.clone();
            damaged[offset..offset + width].copy_from_slice(&number[..width]);
            match File::from_bytes(damaged) {
                Ok(file) => use_everything(&file),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 1_000, "{refused} refused");
}
