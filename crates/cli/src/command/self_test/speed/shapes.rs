//! The shapes that are timed: those of a model's layers, at a scale that the device can take.

use std::time::Duration;

use minfer_conformance::{Case, CaseBuilder, Tolerance, time};
use minfer_graph::op::add_norm::AddNorm;
use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::attention::Attention;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::op::matmul::Matmul;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::{Counts, Input, KvTypes, Op, OpKind, Rows, StateId, WeightDecl};
use minfer_plan::{Device, SequenceRows, Target};
use minfer_quant::{DType, KvType, Quant};

/// Bytes of weights that no cache holds, and that any machine has room for.
const WEIGHTS: usize = 128 << 20;

/// Columns and rows of matrices: as large as the device multiplies in about a tenth of a
/// millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale(pub usize);

const SMALLEST: usize = 256;
const LARGEST: usize = 4096;
const LONG: Duration = Duration::from_micros(100);

impl Scale {
    /// Found by trying.
    pub fn of(device: &mut dyn Device) -> Scale {
        let mut size = SMALLEST;
        while size < LARGEST {
            let shape = Shape { op: OpKind::Matmul, quant: Quant::Q8_0, rows: 1, size, depth: 0 };
            let case = shape.case(device.target(), 1);
            match time(&case, device, Duration::ZERO) {
                Ok(Some(timed)) if timed.best < 4 * LONG => size *= 2,
                // What fails here fails again where it is told.
                Ok(_) | Err(_) => break,
            }
        }
        Scale(size)
    }
}

/// An op at some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub op: OpKind,
    /// Of a matrix.
    quant: Quant,
    rows: usize,
    size: usize,
    /// Positions in the cache.
    depth: usize,
}

/// Every shape.
pub fn all(Scale(size): Scale) -> Vec<Shape> {
    let matmul = |quant, rows| Shape { op: OpKind::Matmul, quant, rows, size, depth: 0 };
    let mut shapes: Vec<Shape> =
        Quant::ALL.iter().flat_map(|quant| [1, 4, 64].map(|rows| matmul(*quant, rows))).collect();
    shapes.extend([2, 8, 16, 32, 256].map(|rows| matmul(Quant::Q4_K, rows)));
    for op in [OpKind::RmsNorm, OpKind::AddNorm, OpKind::Argmax] {
        shapes.extend(of_op(op, &[1, 64], Scale(size)));
    }
    shapes.extend(of_op(OpKind::Attention, &[1, 4, 64], Scale(size)));
    shapes
}

/// The shapes that a choice decides about: those of the op that its name begins with.
pub fn of(choice: &str, scale: Scale) -> Vec<Shape> {
    let Scale(size) = scale;
    let name = choice.split('.').next().unwrap_or(choice);
    let few: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16];
    let op = OpKind::ALL.iter().copied().find(|op| op.name() == name);
    match op {
        None => Vec::new(),
        Some(OpKind::Matmul) => [Quant::Q4_K, Quant::Q8_0]
            .into_iter()
            .flat_map(|quant| {
                few.iter().map(move |rows| Shape {
                    op: OpKind::Matmul,
                    quant,
                    rows: *rows,
                    size,
                    depth: 0,
                })
            })
            .collect(),
        Some(op) => of_op(op, few, scale),
    }
}

fn of_op(op: OpKind, rows: &[usize], Scale(size): Scale) -> Vec<Shape> {
    let depths: &[usize] = if op == OpKind::Attention { &[1, 2] } else { &[0] };
    let shape = |rows: usize, factor: usize| Shape {
        op,
        quant: Quant::F32,
        rows,
        size,
        depth: factor * size / 2,
    };
    depths.iter().flat_map(|factor| rows.iter().map(|rows| shape(*rows, *factor))).collect()
}

impl Shape {
    pub fn name(&self) -> String {
        let Shape { op, quant, rows, size, depth } = self;
        match op {
            OpKind::Matmul => format!("matmul {} {rows}x{size}x{size}", quant.name()),
            OpKind::Attention => format!("attention f16 {rows}x{HEADS}/{KV_HEADS} at {depth}"),
            op => format!("{} {rows}x{size}", op.name()),
        }
    }

    /// Nodes of a step: their weights fill the room that there is for them.
    pub fn repeats(&self) -> usize {
        match self.op {
            OpKind::Matmul => {
                let bytes = self.quant.row_bytes(self.size).map_or(WEIGHTS, |row| row * self.size);
                (WEIGHTS / bytes.max(1)).clamp(2, 8)
            }
            _light => 8,
        }
    }

    /// A step of so many nodes, the last of whose results is read.
    pub fn case(&self, target: &dyn Target, nodes: usize) -> Case {
        let counts = Counts { tokens: self.rows, outputs: 0 };
        let case = CaseBuilder::new(self.name(), counts, Tolerance::Exact).full();
        match self.op {
            OpKind::Matmul => self.matmul(case, target, nodes),
            OpKind::Attention => self.attention(case, nodes),
            OpKind::AddNorm => self.with_vector(case, nodes, 2),
            OpKind::RmsNorm => self.with_vector(case, nodes, 1),
            _argmax => self.argmax(case, nodes),
        }
    }

    fn matmul(&self, mut case: CaseBuilder, target: &dyn Target, nodes: usize) -> Case {
        let size = self.size;
        let bytes = case.seeded().blocks(self.quant, size * size, 0.05);
        let mut x = case.bells(Rows::TOKENS, size);
        for node in 0..nodes {
            let weight = case.weight_bytes(self.quant, [1, size, size], bytes.clone());
            let op = Matmul { weight, bias: None, fine: false };
            if node == 0 {
                let name = String::new();
                let decl =
                    WeightDecl { name, quant: self.quant, experts: 1, rows: size, cols: size };
                let dtype = target.operand(&Op::from(op.clone()), &decl);
                if dtype != DType::F32 {
                    x = case.node(QuantizeRows { dtype }, &[x])[0];
                }
            }
            apply(&mut case, op, &[x], node + 1 == nodes);
        }
        case.finish()
    }

    fn with_vector(&self, mut case: CaseBuilder, nodes: usize, operands: usize) -> Case {
        let weight = case.vector(self.size);
        let x: Vec<_> = (0..operands).map(|_| case.bells(Rows::TOKENS, self.size)).collect();
        for node in 0..nodes {
            let last = node + 1 == nodes;
            match operands {
                1 => apply(&mut case, RmsNorm { weight, eps: 1e-5 }, &x, last),
                _two => apply(&mut case, AddNorm { weight, eps: 1e-5 }, &x, last),
            }
        }
        case.finish()
    }

    fn argmax(&self, mut case: CaseBuilder, nodes: usize) -> Case {
        let x = case.bells(Rows::TOKENS, self.size);
        for node in 0..nodes {
            apply(&mut case, Argmax, &[x], node + 1 == nodes);
        }
        case.finish()
    }

    /// The cache is filled in a step of its own.
    fn attention(&self, mut case: CaseBuilder, nodes: usize) -> Case {
        let kv = KvTypes { key: KvType::F16, value: KvType::F16 };
        let now = Counts { tokens: self.rows, outputs: 0 };
        let past = Counts { tokens: self.depth, outputs: 0 };
        case.restart(past);
        let positions = self.depth + self.rows;
        let state = case.cache([KV_HEADS, HEAD_DIM], kv, None, positions, PARTIALS);
        case.sequences(&[SequenceRows { row: 0, rows: self.depth, sequence: 0, position: 0 }]);
        store(&mut case, state);
        case.next_step(now);
        let position = self.depth;
        case.sequences(&[SequenceRows { row: 0, rows: self.rows, sequence: 0, position }]);
        store(&mut case, state);
        let q = case.bells(Rows::TOKENS, HEADS * HEAD_DIM);
        let inputs = [
            q,
            case.input(Input::Positions),
            case.input(Input::Pages { group: 0 }),
            case.input(Input::Work { group: 0 }),
        ];
        let scale = 1.0 / (HEAD_DIM as f32).sqrt();
        for node in 0..nodes {
            let op = Attention { state, heads: HEADS, scale, soft_cap: None, sinks: None };
            apply(&mut case, op, &inputs, node + 1 == nodes);
        }
        case.finish()
    }
}

/// Heads as small models have them, and slots of partial results.
const HEADS: usize = 8;
const KV_HEADS: usize = 2;
const HEAD_DIM: usize = 64;
const PARTIALS: usize = 16;

fn store(case: &mut CaseBuilder, state: StateId) {
    let k = case.bells(Rows::TOKENS, KV_HEADS * HEAD_DIM);
    let v = case.bells(Rows::TOKENS, KV_HEADS * HEAD_DIM);
    let slots = case.input(Input::Slots { group: 0 });
    case.node(KvStore { state }, &[k, v, slots]);
}

/// Applies an op; the results of the last one are kept.
fn apply(case: &mut CaseBuilder, op: impl Into<Op>, inputs: &[minfer_graph::ValueId], last: bool) {
    if last {
        case.op(op, inputs)
    } else {
        case.node(op, inputs)
    };
}
