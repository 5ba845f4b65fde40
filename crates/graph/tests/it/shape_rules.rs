//! What each op takes, what it gives, and what it says of operands that do not fit.

use minfer_graph::op::add::Add;
use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::attention::Attention;
use minfer_graph::op::embed::Embed;
use minfer_graph::op::expert_combine::ExpertCombine;
use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::mul::Mul;
use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::Rope;
use minfer_graph::op::route::Route;
use minfer_graph::op::scale::Scale;
use minfer_graph::op::softmax::Softmax;
use minfer_graph::op::top_k::TopK;
use minfer_graph::op::unary::Unary;
use minfer_graph::{Activation, Op, Rows, TensorType};
use minfer_quant::DType;

use crate::world::*;

pub fn accepts(op: impl Into<Op>, inputs: &[TensorType], expected: &[TensorType]) {
    let op = op.into();
    let found = op.def().infer(inputs, &tables());
    assert_eq!(found.as_deref(), Ok(expected), "{}", op.kind().name());
}

pub fn refuses(op: impl Into<Op>, inputs: &[TensorType], expected: &str) {
    let op = op.into();
    match op.def().infer(inputs, &tables()) {
        Ok(types) => panic!("{} accepts {inputs:?} and gives {types:?}", op.kind().name()),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

#[test]
fn embed_takes_one_id_a_token() {
    let op = Embed { weight: EMBED };
    accepts(op.clone(), &[indices(1)], &[tokens(256)]);
    refuses(op.clone(), &[indices(2)], "embed: expected i32[T,1], found i32[T,2]");
    refuses(op.clone(), &[tokens(1)], "embed: expected i32[T,1], found f32[T,1]");
    refuses(op, &[], "embed: expected 1 operands, found 0");
}

#[test]
fn get_rows_takes_one_row_an_output() {
    let rows = TensorType::i32(Rows::OUTPUTS, 1);
    accepts(GetRows, &[tokens(9), rows], &[outputs(9)]);
    refuses(GetRows, &[tokens(9), indices(1)], "get_rows: expected i32[O,1], found i32[T,1]");
    let quantized = quantized(DType::Q8_0, 64);
    refuses(GetRows, &[quantized, rows], "get_rows: expected a f32 operand, found q8_0[T,64]");
}

#[test]
fn quantize_rows_takes_whole_blocks() {
    let op = |dtype| QuantizeRows { dtype };
    accepts(op(DType::Q8_0), &[tokens(96)], &[quantized(DType::Q8_0, 96)]);
    accepts(op(DType::Q8_K), &[outputs(512)], &[TensorType::new(DType::Q8_K, Rows::OUTPUTS, 512)]);
    let partial = "quantize_rows: expected columns in whole q8_k blocks, found f32[T,96]";
    refuses(op(DType::Q8_K), &[tokens(96)], partial);
    let float = "quantize_rows: expected a quantized target, q8_0, q8_k or q16_0, found f16";
    refuses(op(DType::F16), &[tokens(256)], float);
    let twice = "quantize_rows: expected a f32 operand, found q8_0[T,32]";
    refuses(op(DType::Q8_0), &[quantized(DType::Q8_0, 32)], twice);
}

#[test]
fn matmul_takes_the_columns_of_its_matrix() {
    let op = |weight, bias| Matmul::new(weight, bias);
    accepts(op(GATE, None), &[tokens(256)], &[tokens(512)]);
    accepts(op(K, Some(K_BIAS)), &[outputs(256)], &[outputs(64)]);
    accepts(op(V, None), &[quantized(DType::Q8_K, 256)], &[tokens(64)]);
    let other = "matmul: expected 1 matrices of 255 columns, found gate [1, 512, 256]";
    refuses(op(GATE, None), &[tokens(255)], other);
    let experts = "matmul: expected 1 matrices of 256 columns, found experts [4, 512, 256]";
    refuses(op(EXPERTS, None), &[tokens(256)], experts);
    let bias = "matmul: expected a vector of 512, found k_bias [1, 1, 64]";
    refuses(op(GATE, Some(K_BIAS)), &[tokens(256)], bias);
    let dtype = "matmul: expected activations in f32, q8_0, q8_k or q16_0, found f16[T,256]";
    refuses(op(GATE, None), &[quantized(DType::F16, 256)], dtype);
    refuses(op(GATE, None), &[tokens(256); 2], "matmul: expected 1 operands, found 2");
}

#[test]
fn matmul_group_takes_the_same_rows_in_several_types() {
    let member = |weight, operand| Member { operand, ..Member::new(weight, None) };
    let group = |members: &[Member]| MatmulGroup { members: members.to_vec() };
    let op = group(&[member(Q, 0), member(K, 0), member(V, 1)]);
    let both = [quantized(DType::Q8_0, 256), quantized(DType::Q8_K, 256)];
    accepts(op.clone(), &both, &[tokens(256), tokens(64), tokens(64)]);
    refuses(op.clone(), &both[..1], "matmul_group: expected operand 1, found 1");
    let mixed = [quantized(DType::Q8_0, 256), tokens(128)];
    let found = "matmul_group: expected operands shaped like q8_0[T,256], found f32[T,128]";
    refuses(op.clone(), &mixed, found);
    refuses(op, &[], "matmul_group: expected at least one operand, found none");
    let other = "matmul_group: expected 1 matrices of 256 columns, found down [1, 256, 512]";
    refuses(group(&[member(GATE, 0), member(DOWN, 0)]), &[tokens(256)], other);
}

#[test]
fn sums_and_products_take_two_of_one_type() {
    accepts(Add, &[several(3, 5); 2], &[several(3, 5)]);
    accepts(Mul, &[outputs(5); 2], &[outputs(5)]);
    let rows = "add: expected operands of one type, f32[T,5], found f32[O,5]";
    refuses(Add, &[tokens(5), outputs(5)], rows);
    let per = "mul: expected operands of one type, f32[T*2,5], found f32[T*3,5]";
    refuses(Mul, &[several(2, 5), several(3, 5)], per);
    refuses(Mul, &[indices(5); 2], "mul: expected a f32 operand, found i32[T,5]");
    refuses(Add, &[tokens(5)], "add: expected 2 operands, found 1");
}

#[test]
fn functions_of_each_element_keep_the_type() {
    let unary = Unary { function: Activation::SoftCap(30.0) };
    accepts(unary.clone(), &[several(2, 7)], &[several(2, 7)]);
    accepts(Scale { factor: 2.0 }, &[outputs(7)], &[outputs(7)]);
    accepts(Softmax, &[tokens(7)], &[tokens(7)]);
    refuses(unary, &[indices(7)], "unary: expected a f32 operand, found i32[T,7]");
    let factor = Scale { factor: 2.0 };
    refuses(factor, &[indices(7)], "scale: expected a f32 operand, found i32[T,7]");
    refuses(Softmax, &[indices(7)], "softmax: expected a f32 operand, found i32[T,7]");
}

#[test]
fn norms_take_a_weight_per_column() {
    let rms = |weight| RmsNorm { weight, eps: 1e-5 };
    accepts(rms(NORM), &[tokens(256)], &[tokens(256)]);
    let short = "rms_norm: expected a vector of 256, found head_norm [1, 1, 32]";
    refuses(rms(HEAD_NORM), &[tokens(256)], short);
    let matrix = "rms_norm: expected a vector of 256, found q [1, 256, 256]";
    refuses(rms(Q), &[tokens(256)], matrix);
    let heads = |head_dim| QkNorm { weight: HEAD_NORM, eps: 1e-5, head_dim };
    accepts(heads(32), &[tokens(96)], &[tokens(96)]);
    refuses(heads(32), &[tokens(40)], "qk_norm: expected heads of 32, found f32[T,40]");
    refuses(heads(0), &[tokens(40)], "qk_norm: expected heads of 0, found f32[T,40]");
    let other = "qk_norm: expected a vector of 16, found head_norm [1, 1, 32]";
    refuses(heads(16), &[tokens(64)], other);
}

#[test]
fn rope_takes_token_rows_of_whole_heads() {
    accepts(rope(), &[tokens(64), indices(1)], &[tokens(64)]);
    let partial = Rope { frequencies: [1.0, 0.5].into(), ..rope() };
    accepts(partial, &[tokens(64), indices(1)], &[tokens(64)]);
    let heads = "token rows of heads of 32 with at most 16 pairs";
    let found = |found: &str| format!("rope: expected {heads}, found {found}");
    refuses(rope(), &[tokens(48), indices(1)], &found("f32[T,48], 16 pairs"));
    refuses(rope(), &[outputs(64), indices(1)], &found("f32[O,64], 16 pairs"));
    let many = Rope { frequencies: vec![1.0; 17].into(), ..rope() };
    refuses(many, &[tokens(64), indices(1)], &found("f32[T,64], 17 pairs"));
    let positions = "rope: expected i32[T,1], found i32[T,2]";
    refuses(rope(), &[tokens(64), indices(2)], positions);
    let none = Rope { head_dim: 0, frequencies: [].into(), ..rope() };
    let zero = "rope: expected token rows of heads of 0 with at most 0 pairs, found f32[T,64], 0 \
                pairs";
    refuses(none, &[tokens(64), indices(1)], zero);
}

#[test]
fn kv_store_takes_rows_of_the_cache() {
    let op = |state| KvStore { state };
    accepts(op(CACHE), &[tokens(64), tokens(64), indices(1)], &[]);
    let narrow = "kv_store: expected 64 columns, found f32[T,32]";
    refuses(op(CACHE), &[tokens(32), tokens(32), indices(1)], narrow);
    let unequal = "kv_store: expected operands of one type, f32[T,64], found f32[T,32]";
    refuses(op(CACHE), &[tokens(64), tokens(32), indices(1)], unequal);
    let recurrent = "kv_store: expected a paged state, found a per-sequence state";
    refuses(op(RECURRENT), &[tokens(64), tokens(64), indices(1)], recurrent);
    let unsuitable =
        "kv_store: expected a KV type that suits the head size, found q8_0/q8_0 for heads of 20";
    refuses(op(UNSUITABLE), &[tokens(40), tokens(40), indices(1)], unsuitable);
    let slots = "kv_store: expected i32[T,1], found f32[T,1]";
    refuses(op(CACHE), &[tokens(64), tokens(64), tokens(1)], slots);
}

#[test]
fn attention_takes_the_step_s_tables() {
    let op = |heads, sinks| Attention { state: CACHE, heads, scale: 0.5, soft_cap: None, sinks };
    let pages = TensorType::i32(Rows::Fixed(2), 3);
    let work = TensorType::i32(Rows::Fixed(7), 6);
    let inputs = |cols| [tokens(cols), indices(1), pages, work];
    accepts(op(8, None), &inputs(256), &[tokens(256)]);
    accepts(op(8, Some(SINKS)), &inputs(256), &[tokens(256)]);
    let cols = "attention: expected 256 columns, found f32[T,64]";
    refuses(op(8, None), &inputs(64), cols);
    let odd = "attention: expected token rows and query heads in groups of 2 K/V heads, found 3 \
               heads, f32[T,96]";
    refuses(op(3, None), &inputs(96), odd);
    let sinks = "attention: expected a vector of 4, found sinks [1, 1, 8]";
    refuses(op(4, Some(SINKS)), &inputs(128), sinks);
    let swapped = [tokens(256), indices(1), work, pages];
    refuses(op(8, None), &swapped, "attention: expected i32[2,3], found i32[7,6]");
    let rows = [outputs(256), indices(1), pages, work];
    let found = "attention: expected token rows and query heads in groups of 2 K/V heads, found 8 \
                 heads, f32[O,256]";
    refuses(op(8, None), &rows, found);
}

#[test]
fn experts_multiply_a_row_for_each_of_a_token_s_choices() {
    let route = |used| Route { used, normalize: true };
    accepts(route(2), &[tokens(4)], &[indices(2), tokens(2)]);
    let many = "route: expected between one expert and all of them, found 5 of f32[T,4]";
    refuses(route(5), &[tokens(4)], many);
    let none = "route: expected between one expert and all of them, found 0 of f32[T,4]";
    refuses(route(0), &[tokens(4)], none);

    let matmul = |weight| ExpertMatmul { weight };
    accepts(matmul(EXPERTS), &[tokens(256), indices(3)], &[several(3, 512)]);
    accepts(matmul(EXPERTS), &[several(3, 256), indices(3)], &[several(3, 512)]);
    let rows = "expert_matmul: expected T*3 or T rows, found f32[T*2,256]";
    refuses(matmul(EXPERTS), &[several(2, 256), indices(3)], rows);
    let chosen = "expert_matmul: expected a i32 operand, found f32[T,3]";
    refuses(matmul(EXPERTS), &[tokens(256), tokens(3)], chosen);

    accepts(ExpertCombine, &[several(3, 256), tokens(3)], &[tokens(256)]);
    let combined = "expert_combine: expected T*2 rows, found f32[T*3,256]";
    refuses(ExpertCombine, &[several(3, 256), tokens(2)], combined);
}

#[test]
fn choices_of_the_host_take_float_rows() {
    accepts(Argmax, &[outputs(9)], &[TensorType::i32(Rows::OUTPUTS, 1)]);
    refuses(Argmax, &[indices(9)], "argmax: expected a f32 operand, found i32[T,9]");
    let top = |k| TopK { k };
    accepts(top(9), &[outputs(9)], &[TensorType::i32(Rows::OUTPUTS, 9), outputs(9)]);
    refuses(top(10), &[outputs(9)], "top_k: expected 1 to 9 elements, found 10");
    refuses(top(0), &[outputs(9)], "top_k: expected 1 to 9 elements, found 0");
}
