//! Types of values, weights and state, and step data.

use minfer_graph::{
    Counts, Input, OpKind, PAGE_POSITIONS, Rows, StateDecl, StepShape, TensorType, Work,
};
use minfer_quant::{DType, KvType};
use proptest::prelude::*;

use crate::world::*;

#[test]
fn rows_are_reserved_for_the_bucket_and_counted_for_the_step() {
    let counts = Counts { tokens: 3, outputs: 1 };
    let both = |rows: Rows| (rows.capacity(&SHAPE), rows.live(&counts));
    assert_eq!(both(Rows::TOKENS), (4, 3));
    assert_eq!(both(Rows::OUTPUTS.times(5)), (10, 5));
    assert_eq!(both(Rows::TOKENS.times(2).times(3)), (24, 18));
    assert_eq!(both(Rows::Fixed(7).times(2)), (14, 14));
}

#[test]
fn bytes_follow_the_element_type() {
    let bytes = |dtype, cols| TensorType::new(dtype, Rows::OUTPUTS, cols).bytes(&SHAPE);
    assert_eq!(bytes(DType::F32, 10), 2 * 40);
    assert_eq!(bytes(DType::BF16, 10), 2 * 20);
    assert_eq!(bytes(DType::Q8_0, 64), 2 * (64 + 2 * 4 + 2 * 4));
    assert_eq!(bytes(DType::Q8_K, 256), 2 * (256 + 4 + 32));
    // 320 rows of one q4_k block.
    assert_eq!(weights()[0].bytes(), 320 * 144);
    assert_eq!(weights()[11].bytes(), 4 * 512 * 256 * 2);
}

#[test]
fn pages_have_their_true_size() {
    let state = |key, value| StateDecl::Paged {
        group: 0,
        layer: 1,
        kv_heads: 2,
        head_dim: 64,
        key,
        value,
        window: None,
    };
    let mixed = state(KvType::Q8_0, KvType::F16);
    // 64 int8 and two f16 scales; 64 f16.
    let (key, value) = (PAGE_POSITIONS * 2 * (64 + 4), PAGE_POSITIONS * 2 * 128);
    assert_eq!((mixed.key_page_bytes(), mixed.value_page_bytes()), (key, value));
    assert_eq!((mixed.page_bytes(), mixed.layer()), (key + value, 1));
    let recurrent = StateDecl::PerSequence { layer: 4, bytes: 64 };
    assert_eq!((recurrent.page_bytes(), recurrent.layer()), (64, 4));
    assert_eq!((recurrent.key_page_bytes(), recurrent.value_page_bytes()), (0, 0));
}

#[test]
fn inputs_have_types_by_the_step_s_shape() {
    let shape = StepShape { sequences: 6, pages: 9, work: 11, ..SHAPE };
    let text = |input: Input| format!("{} {}", input.name(), input.tensor_type(&shape));
    let all = [
        Input::Tokens,
        Input::Positions,
        Input::OutputRows,
        Input::Slots { group: 1 },
        Input::Pages { group: 0 },
        Input::Work { group: 2 },
    ];
    assert_eq!(
        all.map(text),
        [
            "tokens i32[T,1]",
            "positions i32[T,1]",
            "output_rows i32[O,1]",
            "slots.1 i32[T,1]",
            "pages.0 i32[6,9]",
            "work.2 i32[11,6]",
        ]
    );
}

#[test]
fn names_of_ops_are_unique() {
    let mut names: Vec<&str> = OpKind::ALL.iter().map(|kind| kind.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), OpKind::ALL.len());
}

proptest! {
    #[test]
    fn work_survives_its_row(row in any::<[i32; 6]>()) {
        prop_assert_eq!(Work::from_row(row).to_row(), row);
    }
}
