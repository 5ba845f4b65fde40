//! Decoding equals the PyPI package `gguf`, bit for bit, on the blocks that `golden.py` wrote.

use std::fs;
use std::path::Path;

use minfer_quant::Quant;

/// A file of `tests/data`: header fields, blocks, and the values they hold.
struct Golden {
    header: Vec<(String, String)>,
    blocks: Vec<u8>,
    values: Vec<f32>,
}

impl Golden {
    fn read(quant: Quant) -> Self {
        let name = format!("tests/data/{}.bin", quant.name());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name);
        let data = fs::read(path)
            .unwrap_or_else(|error| panic!("{name}: {error}; make it with tests/golden.py"));
        assert!(data.len() <= 30_000, "{name} has {} bytes", data.len());
        let end = data.windows(2).position(|pair| pair == b"\n\n").expect("a header");
        let header: Vec<_> = std::str::from_utf8(&data[..end])
            .expect("an ASCII header")
            .lines()
            .map(|line| line.split_once(' ').expect("`key value`"))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let mut golden = Self { header, blocks: Vec::new(), values: Vec::new() };
        let (blocks, values) =
            data[end + 2..].split_at(golden.number("blocks") * golden.number("block_bytes"));
        golden.blocks = blocks.to_vec();
        golden.values =
            values.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(golden.values.len() * 4, values.len(), "{name}: whole values");
        golden
    }

    fn field(&self, key: &str) -> &str {
        let field = self.header.iter().find(|(found, _)| found == key);
        &field.unwrap_or_else(|| panic!("no `{key}` in the header")).1
    }

    fn number(&self, key: &str) -> usize {
        self.field(key).parse().expect("a number")
    }
}

#[test]
fn table_agrees_with_the_gguf_package() {
    for &quant in Quant::ALL {
        let golden = Golden::read(quant);
        assert_eq!(golden.field("format"), quant.name());
        assert_eq!(golden.number("gguf_id"), quant.gguf_id() as usize, "{quant:?}");
        assert_eq!(golden.number("block_len"), quant.block_len(), "{quant:?}");
        assert_eq!(golden.number("block_bytes"), quant.block_bytes(), "{quant:?}");
    }
}

#[test]
fn decode_equals_the_gguf_package_bit_for_bit() {
    for &quant in Quant::ALL {
        let golden = Golden::read(quant);
        assert_eq!(golden.values.len(), golden.number("blocks") * quant.block_len());
        let mut found = vec![0.0; golden.values.len()];
        quant.decode(&golden.blocks, &mut found).expect("the file holds whole blocks");
        let mut finite = 0;
        for (at, (found, expected)) in found.iter().zip(&golden.values).enumerate() {
            // The payload of a NaN depends on the machine that made it.
            let same =
                found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
            let (block, value) = (at / quant.block_len(), at % quant.block_len());
            assert!(
                same,
                "{quant:?} block {block} value {value}: {found:e} instead of {expected:e}"
            );
            finite += usize::from(expected.is_finite() && *expected != 0.0);
        }
        // A third of what has three levels is 0, beside blocks whose scale is 0 or no number.
        assert!(finite * 5 > found.len() * 2, "{quant:?}: golden values say something");
    }
}
