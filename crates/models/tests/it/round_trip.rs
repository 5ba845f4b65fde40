//! A blueprint becomes a file, and the file the model that the blueprint describes.

use minfer_graph::{Op, StateDecl};
use minfer_models::arch::ARCHITECTURES;
use minfer_models::{Blueprint, Scaling, Window};

use crate::make::*;

fn same(blueprint: &Blueprint) {
    let mut draft = Draft::new(blueprint);
    if let Scaling::Factors(factors) = &blueprint.config.scaling {
        let dims = [factors.len() as u64];
        draft = draft.with_tensor("rope_freqs.weight", &dims, factors.clone());
    }
    let model = draft.open().unwrap();
    assert_eq!(*model.config(), blueprint.config);
    let names: Vec<_> = model.weights().iter().map(|weight| weight.name.clone()).collect();
    let mut drafted = draft.names();
    drafted.retain(|name| name != "rope_freqs.weight");
    assert_eq!(names, drafted);
    graph(&model);
}

#[test]
fn tiny_models_come_back() {
    for architecture in ARCHITECTURES {
        for width in [64, 128, 256] {
            let blueprint = (architecture.tiny)(width);
            assert_eq!(blueprint.config.architecture, architecture.name);
            same(&blueprint);
            same(&blueprint.clone().tied());
            same(&blueprint.clone().with_biases());
            same(&blueprint.with_layers(3));
        }
    }
}

#[test]
fn stretched_models_come_back() {
    let yarn = Scaling::Yarn {
        factor: 4.0,
        original_context: 128.0,
        beta_fast: 16.0,
        beta_slow: 2.0,
        log_multiplier: 0.5,
        attention_factor: 1.5,
    };
    let factors = (0..16).map(|i| 1.0 + i as f32 / 2.0).collect();
    for scaling in [Scaling::Linear { factor: 8.0 }, yarn, Scaling::Factors(factors)] {
        let mut blueprint = (architecture("llama").tiny)(64);
        blueprint.config.scaling = scaling;
        same(&blueprint);
    }
    let mut windowed = (architecture("gemma3").tiny)(64);
    windowed.config.rope_base = 1e6;
    windowed.config.window = Some(Window { size: 40, period: 2, rope_base: 500.0 });
    same(&windowed);
}

#[test]
fn a_blueprint_of_an_unknown_architecture_has_no_tensors() {
    let error = Blueprint::tiny("mamba", 64).tensors().unwrap_err();
    assert!(error.to_string().contains("\"mamba\" is not supported"), "{error}");
    let error = Blueprint::tiny("qwen3moe", 64).tensors().unwrap_err();
    let text = "qwen3moe.expert_count: expected a mixture of experts, found none";
    assert_eq!(error.to_string(), text);
}

/// The matrix of the last matmul.
fn head(blueprint: &Blueprint) -> String {
    let model = Draft::new(blueprint).open().unwrap();
    let graph = graph(&model);
    let output = graph.nodes.iter().find(|node| node.name == "output").unwrap();
    graph.tables.weight(output.op.def().weights()[0]).name.clone()
}

#[test]
fn tied_models_use_the_embedding_twice() {
    for architecture in ARCHITECTURES {
        let tiny = (architecture.tiny)(64);
        let tied = tiny.clone().tied();
        assert_eq!(head(&tied), "token_embd.weight");
        let untied = Blueprint { tied: false, ..tiny };
        assert_eq!(head(&untied), "output.weight");
        let (tied, untied) = (tied.tensors().unwrap().len(), untied.tensors().unwrap().len());
        assert_eq!(tied + 1, untied);
    }
}

#[test]
fn biases_are_used_where_the_file_has_them() {
    for architecture in ARCHITECTURES {
        let tiny = (architecture.tiny)(64);
        for biases in [false, true] {
            let model = Draft::new(&Blueprint { biases, ..tiny.clone() }).open().unwrap();
            let graph = graph(&model);
            let groups = graph.nodes.iter().filter(|node| node.name.ends_with("attn_qkv"));
            for node in groups {
                let Op::MatmulGroup(group) = &node.op else { panic!("{:?}", node.op) };
                assert!(group.members.iter().all(|member| member.bias.is_some() == biases));
            }
        }
    }
    // One alone is used too.
    let draft = Draft::tiny("llama").with_dims("blk.1.attn_v.bias", &[64]);
    let graph = graph(&draft.open().unwrap());
    let node = graph.nodes.iter().find(|node| node.name == "blk.1.attn_qkv").unwrap();
    let Op::MatmulGroup(group) = &node.op else { panic!("{:?}", node.op) };
    let biases: Vec<bool> = group.members.iter().map(|member| member.bias.is_some()).collect();
    assert_eq!(biases, [false, false, true]);
}

#[test]
fn layers_of_equal_window_share_a_group() {
    let model = Draft::new(&(architecture("gemma3").tiny)(64)).open().unwrap();
    let states = model.states(KV).unwrap();
    let groups: Vec<_> = states
        .iter()
        .map(|state| match state {
            StateDecl::Paged { group, window, layer, .. } => (*layer, *group, *window),
            other => panic!("{other:?}"),
        })
        .collect();
    let windowed = |layer| (layer, 0, Some(8));
    assert_eq!(groups[..5], [0, 1, 2, 3, 4].map(windowed));
    assert_eq!(groups[5..], [(5, 1, None), windowed(6)]);
    let llama = Draft::tiny("llama").open().unwrap();
    let states = llama.states(KV).unwrap();
    assert!(states.iter().all(|s| matches!(s, StateDecl::Paged { group: 0, window: None, .. })));
}
