//! The byte-level alphabet: 256 printable characters that stand for the 256 bytes.
//!
//! Byte-level BPE was published with GPT-2. A byte that is a printable character of Latin-1 is
//! written as that character; the 68 others, in order, as the characters from U+0100 on. A token's
//! text is thus always printable text, and any bytes can be written.

/// The character that stands for a byte.
pub(crate) fn char_of(byte: u8) -> char {
    CHARS[usize::from(byte)]
}

/// The byte that a character stands for.
pub(crate) fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    match u8::try_from(code) {
        Ok(byte) => is_itself(byte).then_some(byte),
        Err(_) => SHIFTED.get(usize::try_from(code - 0x100).ok()?).copied(),
    }
}

/// Whether a byte is written as the Latin-1 character of the same number.
const fn is_itself(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

/// The bytes that are not written as themselves, in order.
const SHIFTED: [u8; 68] = {
    let mut shifted = [0; 68];
    let mut count = 0;
    let mut byte = 0;
    while byte < 256 {
        if !is_itself(byte as u8) {
            shifted[count] = byte as u8;
            count += 1;
        }
        byte += 1;
    }
    assert!(count == 68);
    shifted
};

const CHARS: [char; 256] = {
    let mut chars = ['\0'; 256];
    let mut byte = 0;
    while byte < 256 {
        chars[byte] = byte as u8 as char;
        byte += 1;
    }
    let mut place = 0;
    while place < SHIFTED.len() {
        let Some(character) = char::from_u32(0x100 + place as u32) else {
            panic!("U+0100 and the 67 after it are characters")
        };
        chars[SHIFTED[place] as usize] = character;
        place += 1;
    }
    chars
};

#[cfg(test)]
#[path = "alphabet_tests.rs"]
mod tests;
