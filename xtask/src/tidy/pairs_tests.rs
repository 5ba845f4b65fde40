use super::*;

const WHOLE: [&str; 14] = [
    "crates/graph/src/op/mod.rs",
    "crates/graph/src/op/rms_norm.rs",
    "crates/reference/src/op/rms_norm.rs",
    "crates/conformance/src/ops/rms_norm.rs",
    "crates/backend-cpu/src/kernels/rms_norm.rs",
    "crates/quant/src/format/q4_0.rs",
    "crates/quant/src/format/q4_0_tests.rs",
    "crates/quant/tests/data/q4_0.bin",
    "crates/backend-cpu/src/kernels/quant/q4_0.rs",
    "crates/models/src/arch/llama.rs",
    "crates/models/tests/fixtures/llama.gguf",
    "crates/backend-metal/src/kernels/rms_norm.rs",
    "crates/backend-metal/src/kernels/rms_norm_long.metal",
    "crates/backend-metal/src/kernels/quant/q4_0.metal",
];

const CPU: &str = "crates/backend-cpu/src/kernels/mod.rs";
const RMS_NORM: &str = "crates/backend-metal/src/kernels/rms_norm.rs";

fn without(missing: &str, kernels: &str) -> Vec<String> {
    let paths: Vec<String> =
        WHOLE.iter().filter(|path| **path != missing).map(|path| (*path).to_owned()).collect();
    let findings = check(&paths, &[Source::new(CPU, kernels)]);
    findings.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn a_whole_set_is_quiet() {
    assert!(without("", "").is_empty());
}

#[test]
fn each_missing_file_is_named() {
    for missing in [WHOLE[2], WHOLE[3], WHOLE[4], WHOLE[7], WHOLE[8], WHOLE[10], WHOLE[13]] {
        let findings = without(missing, "");
        assert!(findings.len() == 1 && findings[0].ends_with(missing), "{findings:?}");
    }
    assert_eq!(without(WHOLE[9], ""), ["no file in this folder"]);
}

#[test]
fn an_op_that_is_declined_needs_no_kernel() {
    let kernels = "fn lower(op: &Op) {\n match op {\n Op::Add(_) => add(op),\n \
                   Op::Silu(_) | Op::RmsNorm(_) => Err(Unsupported::composite(op)),\n }\n}\n";
    assert!(without(WHOLE[4], kernels).is_empty());
    let kernels = kernels.replace("=> Err(Unsupported::composite(op))", "=> rms_norm(op)");
    assert_eq!(without(WHOLE[4], &kernels).len(), 1);
}

#[test]
fn a_format_that_metal_declines_needs_no_decoder() {
    let paths: Vec<String> =
        WHOLE.iter().filter(|path| **path != WHOLE[13]).map(|path| (*path).to_owned()).collect();
    let decoders = "fn decoder(quant: Quant) {\n match quant {\n Quant::F32 => fragment(),\n \
                    Quant::Q4_0 | Quant::Q4_1 => return None,\n }\n}\n";
    let source = |text: &str| Source::new("crates/backend-metal/src/source.rs", text);
    assert!(check(&paths, &[source(decoders)]).is_empty());
    let drawn = decoders.replace("return None", "fragment()");
    assert_eq!(check(&paths, &[source(&drawn)]).len(), 1);
}

/// The messages about Metal's kernels, for an op whose Rust is `rust`.
fn metal(paths: &[&str], rust: &str) -> Vec<String> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let findings = metal_sources(&paths, &[Source::new(RMS_NORM, rust)]);
    findings.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn metal_sources_lie_beside_the_rust_of_an_op() {
    let [op, other] = ["crates/graph/src/op/rms_norm.rs", "crates/graph/src/op/glu.rs"];
    let source = "crates/backend-metal/src/kernels/glu.metal";
    let launched = "crates/backend-metal/src/kernels/glu.rs";
    let all = [op, other, RMS_NORM, launched, source];
    assert_eq!(metal(&all, "use super::glu;").len(), 0);
    assert_eq!(metal(&all, "use super::{launch, glu};").len(), 0);
    assert_eq!(metal(&all, "use super::launch::glue;").len(), 1);
    // A source whose op is not launched, and one that no op is called after.
    assert_eq!(metal(&[op, other, source], "").len(), 1);
    assert_eq!(metal(&[op, RMS_NORM, source], "").len(), 2);
}
