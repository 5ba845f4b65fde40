//! A target with switches: which ops it refuses, in which types it wants activations, how much
//! scratch it needs.

use minfer_graph::{Graph, Op, OpKind, WeightDecl};
use minfer_plan::{
    Caps, DeviceKind, Error, Io, Launch, Options, Placement, Planned, Program, Target, TargetId,
    Unsupported, plan,
};
use minfer_quant::{DType, Quant};

/// Alignment of values in the arena.
pub const ALIGNMENT: usize = 64;

pub struct Switches {
    caps: Caps,
    refused: Vec<OpKind>,
    norms: bool,
    operand: fn(&WeightDecl) -> DType,
    scratch: fn(OpKind) -> usize,
}

impl Switches {
    /// Takes everything, wants f32, needs no scratch.
    pub fn new(name: &str) -> Switches {
        let caps = Caps {
            kind: DeviceKind::Reference,
            name: name.into(),
            features: String::new(),
            memory_bytes: None,
            bytes_per_second: None,
            value_alignment: ALIGNMENT,
            weight_alignment: 1,
            threads: 1,
            batch_invariant: true,
            overlaps: false,
        };
        Switches { caps, refused: Vec::new(), norms: true, operand: |_| DType::F32, scratch: |_| 0 }
    }

    pub fn refusing(self, refused: &[OpKind]) -> Switches {
        Switches { refused: refused.to_vec(), ..self }
    }

    /// Refuses composites that take a norm in.
    pub fn refusing_norms(self) -> Switches {
        Switches { norms: false, ..self }
    }

    pub fn wanting(self, operand: fn(&WeightDecl) -> DType) -> Switches {
        Switches { operand, ..self }
    }

    pub fn needing(self, scratch: fn(OpKind) -> usize) -> Switches {
        Switches { scratch, ..self }
    }
}

/// As the processor wants it: K formats meet q8_k rows, 32-blocks q8_0 rows, floats f32 rows.
pub fn blocks(weight: &WeightDecl) -> DType {
    match weight.quant.block_len() {
        256 => DType::Q8_K,
        32 => DType::Q8_0,
        _floats => DType::F32,
    }
}

/// q8_0 for everything that is not kept in f32.
pub fn all_q8_0(weight: &WeightDecl) -> DType {
    if weight.quant == Quant::F32 { DType::F32 } else { DType::Q8_0 }
}

impl Target for Switches {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn operand(&self, _op: &Op, weight: &WeightDecl) -> DType {
        (self.operand)(weight)
    }

    fn lower(&self, op: &Op, io: &Io<'_>) -> Result<Launch, Unsupported> {
        let kind = op.kind();
        if self.refused.contains(&kind) {
            return Err(Unsupported::because(format!("{} is switched off", kind.name())));
        }
        let takes_norm = match op {
            Op::Qkv(op) => op.input_norm.is_some(),
            Op::GateUp(op) => op.input_norm.is_some(),
            _other => false,
        };
        if takes_norm && !self.norms {
            return Err(Unsupported::because("norms are launched by themselves"));
        }
        let mut kernel = kind.name().to_string();
        for weight in op.def().weights() {
            kernel += &format!(".{}", io.tables.weight(weight).quant.name());
        }
        for ty in io.inputs {
            kernel += &format!(".{}", ty.dtype.name());
        }
        Ok(Launch::simple(kernel, "the only one").with_scratch((self.scratch)(kind)))
    }
}

/// Options with these fusions alone.
pub fn only(fusions: &[minfer_plan::Fusion]) -> Options {
    Options { fusions: fusions.to_vec(), ..Options::default() }
}

/// Everything on one target.
pub fn plan_whole(graph: &Graph, target: &Switches, options: &Options) -> Result<Program, Error> {
    let layers = graph.nodes.iter().filter_map(|node| node.layer).max().map_or(0, |last| last + 1);
    let planned = [Planned { target, layouts: &[] }];
    plan(graph, &planned, &Placement::whole(TargetId(0), layers), options)
}

/// The layers on these of two targets; the ends go with the first and the last.
pub fn plan_on_two(
    graph: &Graph,
    targets: [&Switches; 2],
    layers: &[u32],
    options: &Options,
) -> Result<Program, Error> {
    let planned = targets.map(|target| Planned { target: target as &dyn Target, layouts: &[] });
    plan(graph, &planned, &placement(layers), options)
}

pub fn placement(layers: &[u32]) -> Placement {
    let end = |layer: Option<&u32>| TargetId(layer.copied().unwrap_or(0));
    Placement {
        embed: end(layers.first()),
        layers: layers.iter().map(|&target| TargetId(target)).collect(),
        head: end(layers.last()),
    }
}

/// The ops of a graph, in order.
pub fn kinds(graph: &Graph) -> Vec<&'static str> {
    graph.nodes.iter().map(|node| node.op.kind().name()).collect()
}
