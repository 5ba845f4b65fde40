//! The same numbers however a sequence is cut into steps, and however a graph is fused and laid
//! out.

use minfer_graph::Want;
use minfer_plan::{Fusion, Options};
use minfer_quant::KvType;
use minfer_reference::{Mode, Reference};

use crate::llama::{Session, VOCABULARY, prompt};

const PROMPT: usize = 70;

fn bits(values: &[f32]) -> Vec<u32> {
    assert!(values.iter().all(|x| x.is_finite()));
    values.iter().map(|x| x.to_bits()).collect()
}

/// Logits of every token when the prompt comes in steps of these sizes.
fn in_steps(device: Reference, kv: KvType, steps: &[usize], options: &Options) -> Vec<f32> {
    run(Session::new(device, kv), steps, options)
}

fn run(mut session: Session, steps: &[usize], options: &Options) -> Vec<f32> {
    let tokens = prompt(steps.iter().sum());
    let (mut logits, mut position) = (Vec::new(), 0);
    for &n in steps {
        let runner = session.runner(n.next_power_of_two(), Want::Logits, options);
        logits.extend(session.logits(&runner, &tokens[position..position + n], position));
        position += n;
    }
    assert_eq!(logits.len(), PROMPT * VOCABULARY);
    logits
}

fn canonical() -> Reference {
    Reference::new(Mode::Canonical)
}

#[test]
fn prefill_chunks_and_decode_give_the_same_bits() {
    let options = Options::default();
    for kv in [KvType::F32, KvType::F16, KvType::BF16, KvType::Q8_0] {
        let whole = bits(&in_steps(canonical(), kv, &[PROMPT], &options));
        let chunks = bits(&in_steps(canonical(), kv, &[33, 5, 31, 1], &options));
        assert!(chunks == whole, "{kv:?}: chunks");
    }
    let whole = bits(&in_steps(canonical(), KvType::F16, &[PROMPT], &options));
    let decode = bits(&in_steps(canonical(), KvType::F16, &[1; PROMPT], &options));
    assert!(decode == whole, "one token a step");
}

#[test]
fn a_border_between_devices_changes_nothing() {
    let options = Options::default();
    let kv = KvType::F32;
    let steps = [40, 30];
    for mode in [Mode::Canonical, Mode::F64] {
        let device = || Reference::new(mode);
        let two = || Session::on(vec![device(), device()], kv);
        assert_eq!(two().program(8, Want::Logits, &options).splits.len(), 2);
        let (one, two) =
            (run(Session::new(device(), kv), &steps, &options), run(two(), &steps, &options));
        match mode {
            Mode::Canonical => assert!(bits(&one) == bits(&two)),
            // What crosses is f32.
            Mode::F64 => assert!(distance(&one, &two) < 1e-5),
        }
    }
}

#[test]
fn fusions_and_memory_change_nothing() {
    let run = |options: &Options| bits(&in_steps(canonical(), KvType::F16, &[40, 30], options));
    let fused = Options::default();
    let program = Session::new(canonical(), KvType::F16).program(64, Want::Logits, &fused);
    let dump = program.dump();
    for name in ["reference.qkv", "reference.gate_up", "reference.norm_quantize"] {
        assert!(dump.contains(name), "{name} is not in\n{dump}");
    }
    assert!(!dump.contains("reference.norm_matmul"));
    let expected = run(&fused);
    let plain = Options { fusions: Vec::new(), ..fused.clone() };
    assert!(run(&plain) == expected, "without fusions");
    let apart = Options { keep_all: true, ..plain.clone() };
    assert!(run(&apart) == expected, "with memory of its own for every value");
    for fusion in [Fusion::AddNorm, Fusion::GluQuantize, Fusion::NormMatmul] {
        let one = Options { fusions: vec![Fusion::Glu, fusion], ..fused.clone() };
        assert!(run(&one) == expected, "{}", fusion.name());
    }
}

#[test]
fn norm_matmul_is_taken_where_it_is_asked_for_and_rounds_otherwise() {
    let exact = Options { exact: true, ..Options::default() };
    let plain = in_steps(canonical(), KvType::F32, &[PROMPT], &exact);
    let device = || canonical().with_operands(false).with_norm_matmul(true);
    let only = Options { fusions: vec![Fusion::NormMatmul], ..Options::default() };
    let program = Session::new(device(), KvType::F32).program(1, Want::Logits, &only);
    assert!(program.dump().contains("reference.norm_matmul"));
    let fused = in_steps(device(), KvType::F32, &[PROMPT], &only);
    assert_ne!(bits(&fused), bits(&plain));
    assert!(distance(&fused, &plain) < 1e-4);
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

#[test]
fn f64_is_the_oracle_of_the_exact_path_and_of_the_quantized_one() {
    let options = Options::default();
    let exact = Options { exact: true, ..Options::default() };
    let steps = [PROMPT];
    let oracle = in_steps(Reference::new(Mode::F64), KvType::F32, &steps, &options);
    let float = in_steps(canonical(), KvType::F32, &steps, &exact);
    assert!(distance(&float, &oracle) < 1e-4, "{}", distance(&float, &oracle));
    assert_ne!(float, oracle);
    let quantized = in_steps(canonical(), KvType::F32, &steps, &options);
    let far = distance(&quantized, &float);
    assert!((1e-3..0.5).contains(&far), "int8 activations are {far} from f32 ones");
    let largest = oracle.iter().fold(0.0_f32, |m, x| m.max(x.abs()));
    assert!(largest > 1.0, "logits of a size at which the bounds mean something: {largest}");
}
