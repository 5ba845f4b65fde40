//! Tensors: every one that an architecture needs is missed by name, and has the shape it must have.

use minfer_models::Error;
use minfer_models::arch::ARCHITECTURES;

use crate::make::*;

#[test]
fn every_tensor_is_needed() {
    for architecture in ARCHITECTURES {
        let draft = Draft::tiny(architecture.name);
        for name in draft.names() {
            // A file may lack these: the embedding serves as the output matrix, biases are zero.
            if name == "output.weight" || name.ends_with(".bias") {
                draft.clone().without_tensor(&name).open().unwrap();
                continue;
            }
            match draft.clone().without_tensor(&name).open() {
                Err(Error::MissingTensor { name: missing, architecture: of, .. }) => {
                    assert_eq!((missing, of), (name, architecture.name));
                }
                Err(Error::Parameter { key, .. }) => {
                    assert_eq!((&*key, &*name), ("token_embd.weight", "token_embd.weight"));
                }
                other => panic!("{}: {name}: {other:?}", architecture.name),
            }
        }
    }
}

#[test]
fn every_tensor_has_its_shape() {
    for architecture in ARCHITECTURES {
        let draft = Draft::tiny(architecture.name);
        let file = draft.file();
        for name in draft.names() {
            let right = file.tensor(&name).unwrap().dims.clone();
            let mut wrong = right.clone();
            *wrong.last_mut().unwrap() += 1;
            match draft.clone().with_dims(&name, &wrong).open() {
                // The rows of the embedding are the vocabulary, which the output matrix has too.
                Err(Error::TensorShape { name: bad, .. }) if name == "token_embd.weight" => {
                    assert_eq!(bad, "output.weight");
                }
                Err(Error::TensorShape { name: bad, expected, found }) => {
                    assert_eq!((bad, expected, found), (name, right, wrong));
                }
                Ok(model) => {
                    assert_eq!((&*name, architecture.name), ("token_embd.weight", "gemma3"));
                    assert_eq!(model.config().vocabulary, 289);
                }
                other => panic!("{}: {name}: {other:?}", architecture.name),
            }
        }
    }
}

#[test]
fn messages_say_what_is_expected_and_found() {
    let draft = Draft::tiny("llama");
    assert_eq!(
        draft.clone().without_tensor("blk.1.ffn_up.weight").refusal(),
        "tensor blk.1.ffn_up.weight is missing; llama needs it with dimensions [64, 128]"
    );
    // Rows and columns the other way round.
    assert_eq!(
        draft.clone().with_dims("blk.1.ffn_up.weight", &[128, 64]).refusal(),
        "tensor blk.1.ffn_up.weight: expected dimensions [64, 128], found [128, 64]"
    );
    assert_eq!(
        draft.clone().without_tensor("token_embd.weight").refusal(),
        "token_embd.weight: expected an embedding matrix, found no such tensor"
    );
    assert_eq!(
        draft.clone().with_tensor("blk.1.attn_q.scale", &[1], vec![0.5]).refusal(),
        "tensor blk.1.attn_q.scale scales the results of blk.1.attn_q.weight, which is not \
         supported; expected a file whose blocks hold their whole scales"
    );
    assert_eq!(
        draft.with_dims("token_embd.weight", &[64]).refusal(),
        "token_embd.weight: expected 1 to 2097152 rows, found dimensions [64]"
    );
}

#[test]
fn trailing_ones_are_no_difference() {
    let draft = Draft::tiny("llama")
        .with_dims("output_norm.weight", &[64, 1])
        .with_dims("blk.0.ffn_up.weight", &[64, 128, 1]);
    draft.open().unwrap();
    let leading = Draft::tiny("llama").with_dims("output_norm.weight", &[1, 64]);
    assert!(matches!(leading.open(), Err(Error::TensorShape { .. })));
}

#[test]
fn factors_of_rope_are_one_for_each_pair() {
    let with = |factors: Vec<f32>| {
        Draft::tiny("llama").with_tensor("rope_freqs.weight", &[factors.len() as u64], factors)
    };
    with(vec![1.0; 16]).open().unwrap();
    let short = "tensor rope_freqs.weight: expected dimensions [16], found [15]";
    assert_eq!(with(vec![1.0; 15]).refusal(), short);
    for (bad, text) in [(0.0, "0"), (-1.0, "-1"), (f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        let mut factors = vec![1.0; 16];
        factors[7] = bad;
        let expected = format!("rope_freqs.weight: expected finite factors above 0, found {text}");
        assert_eq!(with(factors).refusal(), expected);
    }
}

#[test]
fn sources_are_where_the_bytes_are() {
    let file = Draft::tiny("qwen2").file();
    let model = minfer_models::open(&file).unwrap();
    assert_eq!(model.weights().len(), model.sources().len());
    for (weight, source) in model.weights().iter().zip(model.sources()) {
        let tensor = file.tensor(&weight.name).unwrap();
        assert_eq!((tensor.part, tensor.offset), (source.part, source.offset));
        assert_eq!(weight.bytes() as u64, tensor.bytes);
        assert_eq!(weight.quant, tensor.quant);
    }
}
