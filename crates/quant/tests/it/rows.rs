//! Sizes of rows, the planes of quantized rows, and what is refused.

use minfer_quant::{DType, Error, KvType, Quant};

#[test]
fn a_weight_row_is_whole_blocks() {
    for &quant in Quant::ALL {
        let (len, bytes) = (quant.block_len(), quant.block_bytes());
        assert_eq!(quant.row_bytes(0), Ok(0));
        assert_eq!(quant.row_bytes(7 * len), Ok(7 * bytes));
        if len > 1 {
            let refused = Error::RowLength { format: quant.name(), cols: len + 1, block_len: len };
            assert_eq!(quant.row_bytes(len + 1), Err(refused));
        }
    }
}

#[test]
fn a_row_that_cannot_be_counted_is_refused() {
    let cols = usize::MAX - 255;
    let too_large = |format| Err(Error::RowTooLarge { format, cols });
    for quant in [Quant::F32, Quant::F16, Quant::Q8_0, Quant::Q8_K] {
        assert_eq!(quant.row_bytes(cols), too_large(quant.name()));
    }
    assert_eq!(Quant::Q4_0.row_bytes(cols), Ok(cols / 32 * 18));
    for &dtype in DType::ALL {
        assert_eq!(dtype.row_bytes(cols), too_large(dtype.name()));
    }
    for &kind in KvType::ALL {
        assert_eq!(kind.row_bytes(cols), too_large(kind.name()));
    }
}

#[test]
fn decode_and_encode_refuse_lengths_that_do_not_belong_together() {
    for &quant in Quant::ALL {
        let (len, bytes) = (quant.block_len(), quant.block_bytes());
        let mut values = vec![1.0; 2 * len];
        let mut blocks = vec![0xa5; 2 * bytes];
        for short in [0, bytes, 2 * bytes - 1] {
            let mismatch = Err(Error::ByteLength {
                format: quant.name(),
                values: 2 * len,
                expected: 2 * bytes,
                found: short,
            });
            assert_eq!(quant.decode(&blocks[..short], &mut values), mismatch);
            assert_eq!(quant.encode(&values, &mut blocks[..short]), mismatch);
        }
        assert!(values.iter().all(|x| *x == 1.0), "{quant:?}: nothing is decoded on an error");
        assert!(blocks.iter().all(|x| *x == 0xa5), "{quant:?}: nothing is encoded on an error");
    }
    let cut = Quant::Q4_K.decode(&[0; 144], &mut [0.0; 255]);
    assert_eq!(cut, Err(Error::RowLength { format: "q4_k", cols: 255, block_len: 256 }));
}

#[test]
fn planes_of_activation_rows_lie_as_documented() {
    let row = DType::Q8_0.planes(64).expect("two blocks");
    assert_eq!((row.values(), row.scales(), row.sums()), (0..64, 64..72, 72..80));
    assert_eq!(DType::Q8_0.row_bytes(64), Ok(80));

    let row = DType::Q8_K.planes(512).expect("two blocks");
    assert_eq!((row.values(), row.scales(), row.sums()), (0..512, 512..520, 520..584));
    assert_eq!(DType::Q8_K.row_bytes(512), Ok(584));

    assert_eq!(DType::F32.row_bytes(5), Ok(20));
    assert_eq!(DType::I32.row_bytes(5), Ok(20));
    assert_eq!(DType::F16.row_bytes(5), Ok(10));
    assert_eq!(DType::BF16.row_bytes(5), Ok(10));
    let refused = Err(Error::RowLength { format: "q8_0", cols: 48, block_len: 32 });
    assert_eq!(DType::Q8_0.row_bytes(48), refused);
    let refused = Err(Error::RowLength { format: "q8_k", cols: 32, block_len: 256 });
    assert_eq!(DType::Q8_K.row_bytes(32), refused);
}

#[test]
fn a_row_splits_into_its_planes_and_only_a_whole_row_does() {
    for &dtype in DType::ALL {
        let planes = dtype.planes(512).expect("whole blocks");
        let mut row: Vec<u8> = (0..planes.bytes()).map(|at| (at % 251) as u8).collect();
        let copy = row.clone();
        let parts = planes.split(&copy).expect("a whole row");
        assert_eq!(parts.concat(), copy, "{dtype:?}: nothing between the planes");
        let parts_mut = planes.split_mut(&mut row).expect("a whole row");
        assert_eq!(parts_mut.map(|part| part.to_vec()), parts.map(<[u8]>::to_vec));
        assert_eq!(planes.split(&copy[1..]), None);
        assert_eq!(planes.split_mut(&mut row[1..]), None);
    }
}

#[test]
fn a_page_row_of_q8_0_needs_whole_blocks_of_32() {
    assert_eq!(KvType::F32.row_bytes(80), Ok(320));
    assert_eq!(KvType::F16.row_bytes(80), Ok(160));
    assert_eq!(KvType::BF16.row_bytes(80), Ok(160));
    assert_eq!(KvType::Q8_0.row_bytes(128), Ok(136));
    let error = KvType::Q8_0.row_bytes(80).expect_err("80 is not a multiple of 32");
    assert_eq!(
        error.to_string(),
        "q8_0: a row of 80 values does not divide into blocks of 32; \
         expected a multiple of 32, or choose another format"
    );
}
