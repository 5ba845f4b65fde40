//! What keeps a model off a GPU is told whole.

use std::sync::Arc;

use minfer_backend_cpu::{Cpu, CpuOptions, CpuTarget, Isa};
use minfer_conformance::tiny_file;
use minfer_engine::{Engine, EngineOptions, Error, Placement, TargetId, place};
use minfer_gguf::File;
use minfer_graph::{Op, WeightDecl};
use minfer_plan::{Caps, Device, DeviceKind, Io, Launch, Target, Unsupported};
use minfer_quant::{DType, Quant};

use crate::harness::{Look, Watched, cpu, greedy, options, prompt, run};

/// A CPU that says it is a GPU, and refuses products with some weights.
struct Gpu {
    caps: Caps,
    inner: CpuTarget,
    refused: &'static str,
}

impl Gpu {
    fn new(refused: &'static str, memory_bytes: Option<u64>) -> Gpu {
        let inner = CpuTarget::new("GPU", Isa::ALL[0], 1);
        let caps = Caps { kind: DeviceKind::Metal, memory_bytes, ..inner.caps().clone() };
        Gpu { caps, inner, refused }
    }

    fn device(self) -> Box<dyn Device> {
        let inner = Cpu::new(CpuOptions { threads: 1, isa: Some(Isa::ALL[0]) }).unwrap();
        let look: Look = Arc::new(|_| Ok(()));
        Box::new(Watched { inner: Box::new(inner), target: Some(Box::new(self)), look })
    }
}

impl Target for Gpu {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn operand(&self, op: &Op, weight: &WeightDecl) -> DType {
        self.inner.operand(op, weight)
    }

    fn lower(&self, op: &Op, io: &Io<'_>) -> Result<Launch, Unsupported> {
        let weights = op.matmul_weights(0);
        let name = |id| io.tables.weight(id).name.contains(self.refused);
        if !self.refused.is_empty() && weights.into_iter().any(name) {
            return Err(Unsupported::because("no kernel for this weight"));
        }
        self.inner.lower(op, io)
    }
}

/// An engine on a GPU and a CPU, with so many layers on the GPU.
fn engine(gpu: Gpu, gpu_layers: Option<usize>, options: EngineOptions) -> Result<Engine, Error> {
    let file = File::from_bytes(tiny_file("llama", Quant::Q8_0)).unwrap();
    let kinds = [DeviceKind::Metal, DeviceKind::Cpu];
    let (placement, _) = place(2, &kinds, gpu_layers);
    Engine::with_devices(file, vec![gpu.device(), Box::new(cpu(1))], placement, options)
}

#[test]
fn all_that_is_refused_is_named_with_what_could_run() {
    let error = engine(Gpu::new("blk.0.ffn", None), None, options()).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("GPU cannot run 2 of the model's 2 layers: matmul"), "{text}");
    assert!(text.contains("no kernel for this weight"), "{text}");
    assert_eq!(text.matches("no kernel").count(), 1, "alike ones are one line: {text}");
    assert!(matches!(error, Error::Gate { possible: 1, .. }), "{error:?}");
    // The layer that can run does, when that is asked for.
    let mut engine = engine(Gpu::new("blk.0.ffn", None), Some(1), options()).unwrap();
    run(&mut engine, greedy(prompt(1, 5), 2));
}

#[test]
fn a_refusal_in_the_last_layer_leaves_nothing() {
    let error = engine(Gpu::new("blk.1.attn_output", None), None, options()).unwrap_err();
    assert!(matches!(error, Error::Gate { possible: 0, .. }), "{error:?}");
}

#[test]
fn a_cpu_says_what_it_lacks_as_ever() {
    let file = File::from_bytes(tiny_file("llama", Quant::Q8_0)).unwrap();
    let mut gpu = Gpu::new("blk.0.ffn", None);
    gpu.caps.kind = DeviceKind::Cpu;
    let placement = Placement::whole(TargetId(0), 2);
    let error = Engine::with_devices(file, vec![gpu.device()], placement, options()).unwrap_err();
    assert!(matches!(error, Error::Plan(minfer_plan::Error::Unsupported { .. })), "{error:?}");
}

#[test]
fn more_than_the_working_set_is_refused_unless_forced() {
    let roomy = engine(Gpu::new("", Some(1 << 30)), None, options()).unwrap().memory().unwrap();
    let needed = roomy.weights_bytes + roomy.kv_bytes + roomy.arena_bytes;
    let enough = (needed / 90 + 1) * 100;
    engine(Gpu::new("", Some(enough)), None, options()).unwrap();
    let error = engine(Gpu::new("", Some(needed)), None, options()).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("GPU may keep ") && text.contains("90 %"), "{text}");
    assert!(matches!(error, Error::WorkingSet { kv, .. } if kv == roomy.kv_bytes), "{error:?}");
    let forced = EngineOptions { gpu_overcommit: true, ..options() };
    engine(Gpu::new("", Some(needed)), None, forced).unwrap();
}
