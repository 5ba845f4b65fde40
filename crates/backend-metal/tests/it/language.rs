//! The kernels' source as the language has it: types and address spaces are checked as strictly as
//! the simulator can, which runs cannot, since there all memory is alike.

use metal_sim::{Compiler, Source};
use minfer_backend_metal::modules;

use crate::kernels::simulator_is_here;

#[test]
fn modules_are_valid_and_have_the_kernels_they_list() {
    if !simulator_is_here() {
        return;
    }
    let compiler = Compiler::find().expect("is here");
    for module in modules() {
        let source = Source { name: format!("{}.metal", module.name), text: module.text };
        let checked = compiler.inspect(&source);
        let checked = checked.unwrap_or_else(|error| panic!("{}: {error}", module.name));
        assert_eq!(checked.warnings, [], "{}", module.name);
        let mut found: Vec<String> = checked.signatures.into_iter().map(|s| s.name).collect();
        let mut listed = module.kernels;
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed, "{}", module.name);
    }
}

#[test]
fn a_pointer_into_the_wrong_memory_is_refused() {
    if !simulator_is_here() {
        return;
    }
    let compiler = Compiler::find().expect("is here");
    let module = modules().into_iter().find(|module| module.name == "norms").expect("a module");
    let right = "threadgroup float* room, uint lane";
    let wrong = module.text.replacen(right, "device float* room, uint lane", 1);
    assert_ne!(wrong, module.text, "the source no longer has `{right}`");
    let source = Source { name: "norms.metal".into(), text: wrong };
    assert!(compiler.check(&source).is_err(), "device memory was taken for threadgroup memory");
}
