use super::LogitsHash;

fn hash(rows: &[&[f32]]) -> u64 {
    let mut hash = LogitsHash::default();
    rows.iter().for_each(|row| hash.push(row));
    hash.value()
}

/// By the definition, word by word: FNV-1a's constants, eight lanes, a fold over them.
#[test]
fn the_hash_is_the_documented_one() {
    let row = [1.0, -2.5, 0.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, f32::NAN];
    let (basis, prime) = (14_695_981_039_346_656_037_u64, 1_099_511_628_211_u64);
    let mut value = basis;
    for lane in 0..8 {
        let mut h = basis.wrapping_add(lane as u64);
        for word in row.iter().skip(lane).step_by(8) {
            h = (h ^ u64::from(word.to_bits())).wrapping_mul(prime);
        }
        value = (value ^ h).wrapping_mul(prime);
    }
    assert_eq!(hash(&[&row]), value);
}

#[test]
fn every_bit_every_place_and_every_row_counts() {
    let base = [0.5; 20];
    let mut seen = vec![hash(&[]), hash(&[&base]), hash(&[&base, &base]), hash(&[&base[..19]])];
    for place in 0..base.len() {
        for bit in 0..32 {
            let mut row = base;
            row[place] = f32::from_bits(row[place].to_bits() ^ (1 << bit));
            seen.push(hash(&[&row]));
        }
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
}
