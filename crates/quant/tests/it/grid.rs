//! The code books equal those of the PyPI package `gguf`, by sums that `golden.py` prints.

use minfer_quant::grid;

/// CRC-32 as zlib has it.
fn crc32(bytes: impl Iterator<Item = i8>) -> u32 {
    let step = |rest: u32, _| if rest & 1 == 1 { rest >> 1 ^ 0xEDB8_8320 } else { rest >> 1 };
    let whole = |sum: u32, byte: i8| (0..8).fold(sum ^ u32::from(byte.cast_unsigned()), step);
    !bytes.fold(!0, whole)
}

fn sum<const N: usize>(book: &[[i8; N]]) -> u32 {
    crc32(book.iter().flatten().copied())
}

#[test]
fn books_are_those_of_the_gguf_package() {
    assert_eq!(sum(&grid::IQ1), 0xb85e_6ccf);
    assert_eq!(sum(&grid::IQ2_XXS), 0x9924_ff02);
    assert_eq!(sum(&grid::IQ2_XS), 0xfa1e_1bfd);
    assert_eq!(sum(&grid::IQ2_S), 0x25ae_5bf1);
    assert_eq!(sum(&grid::IQ3_XXS), 0x07ba_9ed0);
    assert_eq!(sum(&grid::IQ3_S), 0xf576_e4f3);
}

#[test]
fn signs_are_even_in_number_and_keep_the_seven() {
    for seven in 0..=u8::MAX {
        let signs = grid::signs(seven);
        assert_eq!(signs & 0x7f, seven & 0x7f);
        assert_eq!(signs.count_ones() % 2, 0, "{seven:#x}");
    }
}
