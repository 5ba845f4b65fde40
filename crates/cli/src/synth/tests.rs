use std::collections::BTreeSet;

use minfer_gguf::File;
use minfer_models::TensorShape;
use minfer_quant::Quant;

use super::{MIXES, Mix, Recipe, SHAPES, Shape, bytes as planned_bytes, write};

fn recipe(shape: &str, mix: &str) -> Recipe<'static> {
    Recipe {
        shape: Shape::find(shape).unwrap(),
        mix: Mix::find(mix).unwrap(),
        layers: None,
        tokenizer: None,
        seed: 1,
        threads: 2,
    }
}

fn bytes(recipe: &Recipe<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(recipe, &mut bytes, &|_| {}).unwrap();
    bytes
}

#[test]
fn every_shape_has_the_tensors_that_its_architecture_asks_for() {
    let names: BTreeSet<&str> = SHAPES.iter().map(|shape| shape.name).collect();
    assert_eq!(names.len(), SHAPES.len(), "names are unique");
    for shape in SHAPES {
        let blueprint = shape.blueprint(None).unwrap();
        for mix in MIXES {
            for tensor in blueprint.tensors().unwrap() {
                let quant = mix.quant(&tensor, blueprint.config.layers, blueprint.tied).unwrap();
                let columns = tensor.dims[0] as usize;
                assert!(quant.row_bytes(columns).is_ok(), "{} {}", shape.name, tensor.name);
                assert!(quant.can_encode());
            }
        }
    }
}

#[test]
fn tiny_models_of_every_architecture_open() {
    for shape in SHAPES.iter().filter(|shape| shape.name.starts_with("tiny")) {
        for mix in ["q4_k_m", "q4_0", "bf16"] {
            let file = File::from_bytes(bytes(&recipe(shape.name, mix))).unwrap();
            minfer_models::open(&file).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
        }
    }
}

#[test]
fn the_size_is_known_before_it_is_written() {
    let recipe = recipe("tiny-llama", "q4_k_m");
    let planned = planned_bytes(&recipe).unwrap();
    let file = File::from_bytes(bytes(&recipe)).unwrap();
    let found: u64 = file.tensors().iter().map(|tensor| tensor.bytes).sum();
    assert_eq!(planned, found);
}

#[test]
fn a_file_is_a_function_of_its_recipe() {
    let one = recipe("tiny-llama", "q4_k_m");
    let first = bytes(&one);
    assert_eq!(first, bytes(&Recipe { threads: 1, ..recipe("tiny-llama", "q4_k_m") }));
    assert_ne!(first, bytes(&Recipe { seed: 2, ..recipe("tiny-llama", "q4_k_m") }));
}

#[test]
fn weights_have_the_spread_that_was_meant() {
    let file = File::from_bytes(bytes(&recipe("tiny-llama", "q4_k_m"))).unwrap();
    for (name, quant, deviation) in [
        ("blk.0.attn_q.weight", Quant::Q4_K, 1.0 / 16.0),
        ("blk.1.ffn_down.weight", Quant::Q6_K, 1.0 / 768_f32.sqrt()),
        ("output.weight", Quant::Q6_K, 3.0 / 16.0),
    ] {
        let tensor = file.tensor(name).unwrap();
        assert_eq!(tensor.quant, quant, "{name}");
        let mut values = vec![0.0_f32; tensor.elements() as usize];
        quant.decode(file.bytes(tensor), &mut values).unwrap();
        let squares: f32 = values.iter().map(|value| value * value).sum();
        let found = (squares / values.len() as f32).sqrt();
        assert!((found / deviation - 1.0).abs() < 0.05, "{name}: {found} for {deviation}");
    }
}

#[test]
fn rows_that_do_not_fill_blocks_get_smaller_ones() {
    let mix = Mix::find("q4_k_m").unwrap();
    let matrix = |name: &str, columns| TensorShape { name: name.into(), dims: vec![columns, 64] };
    let quant = |name: &str, columns| mix.quant(&matrix(name, columns), 24, true).unwrap();
    assert_eq!(quant("blk.3.attn_q.weight", 896), Quant::Q5_0);
    assert_eq!(quant("token_embd.weight", 896), Quant::Q8_0);
    assert_eq!(quant("blk.0.attn_v.weight", 1024), Quant::Q6_K);
    assert_eq!(quant("blk.4.attn_v.weight", 1024), Quant::Q4_K);
    assert_eq!(quant("blk.4.attn_q.weight", 40), Quant::F16);
    assert_eq!(quant("blk.4.ffn_gate_inp.weight", 1024), Quant::F32);
}
