//! What every op says of itself, and what follows from it.

use minfer_quant::{DType, Quant};

use crate::error::Error;
use crate::graph::{Tables, ValueId};
use crate::op::{Op, OpKind, matmul};
use crate::rewrite::Rewrite;
use crate::step::Counts;
use crate::value::{StateId, TensorType, WeightId};

/// What one launch of an op costs at given counts. KV traffic is that of the cache's stored types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Multiply-accumulates.
    pub macs: u64,
    /// Bytes of weights read, each once.
    pub weight_bytes: u64,
    /// Bytes of activations read and written.
    pub activation_bytes: u64,
}

/// What every op says of itself.
pub trait OpDef {
    /// Types of the outputs, or what is wrong with the operands.
    fn infer(&self, inputs: &[TensorType], tables: &Tables) -> Result<Vec<TensorType>, Error>;

    /// Weights it reads, in a fixed order.
    fn weights(&self) -> Vec<WeightId> {
        Vec::new()
    }

    /// State it reads or writes.
    fn state(&self) -> Option<StateId> {
        None
    }

    /// State it writes.
    fn writes_state(&self) -> Option<StateId> {
        None
    }

    /// Attributes other than weights and state, as text for dumps.
    fn attributes(&self) -> String {
        String::new()
    }

    /// Operand whose memory output 0 may take over, element for element, when nothing else reads
    /// it.
    fn in_place(&self) -> Option<usize> {
        None
    }

    /// Multiply-accumulates for `counts`; 0 for ops that only move or reduce.
    fn macs(&self, _inputs: &[TensorType], _tables: &Tables, _counts: &Counts) -> u64 {
        0
    }

    /// Emits the primitives that equal this composite and gives `true`; a primitive gives `false`.
    fn decompose(
        &self,
        _rewrite: &mut Rewrite<'_>,
        _inputs: &[ValueId],
        _outputs: &[ValueId],
    ) -> Result<bool, Error> {
        Ok(false)
    }
}

impl OpKind {
    /// Whether the op has a decomposition into primitives.
    pub fn is_composite(self) -> bool {
        match self {
            OpKind::Glu
            | OpKind::AddNorm
            | OpKind::NormQuantize
            | OpKind::GluQuantize
            | OpKind::NormMatmul
            | OpKind::NormAdd
            | OpKind::MatmulAdd
            | OpKind::Qkv
            | OpKind::GateUp
            | OpKind::ExpertGateUp => true,
            OpKind::Embed
            | OpKind::GetRows
            | OpKind::QuantizeRows
            | OpKind::Matmul
            | OpKind::MatmulGroup
            | OpKind::Add
            | OpKind::Mul
            | OpKind::Scale
            | OpKind::Unary
            | OpKind::RmsNorm
            | OpKind::QkNorm
            | OpKind::Rope
            | OpKind::KvStore
            | OpKind::Attention
            | OpKind::Softmax
            | OpKind::Route
            | OpKind::ExpertMatmul
            | OpKind::ExpertCombine
            | OpKind::Argmax
            | OpKind::TopK => false,
        }
    }
}

impl Op {
    /// Cost of one launch at `counts`. `embed` and expert matmuls read only the rows they use.
    pub fn cost(
        &self,
        inputs: &[TensorType],
        outputs: &[TensorType],
        tables: &Tables,
        counts: &Counts,
    ) -> Cost {
        let bytes = |types: &[TensorType]| -> u64 {
            types.iter().map(|ty| (ty.rows.live(counts) * ty.row_bytes()) as u64).sum()
        };
        let weights = self.def().weights();
        let all: u64 = weights.iter().map(|&id| tables.weight(id).bytes() as u64).sum();
        let weight_bytes = match self {
            Op::Embed(op) => op.bytes_read(tables, counts),
            Op::ExpertMatmul(op) => op.bytes_read(inputs, tables, counts),
            Op::ExpertGateUp(op) => op.bytes_read(inputs, tables, counts),
            _other => all,
        };
        Cost {
            macs: self.def().macs(inputs, tables, counts),
            weight_bytes,
            activation_bytes: bytes(inputs) + bytes(outputs),
        }
    }

    /// The quantized type in which the op takes the activations that it multiplies by weights of
    /// this format; f32 where there is none.
    pub fn activations(&self, quant: Quant) -> DType {
        match self {
            Op::Matmul(op) if op.fine => quant.fine_activations(),
            _other => quant.activations(),
        }
    }

    /// For an op whose operand `input` is multiplied by quantized weights: those weights. A device
    /// is asked per (op, weight) which type it wants the operand in.
    pub fn matmul_weights(&self, input: usize) -> Vec<WeightId> {
        let members = |members: &[matmul::Member]| {
            members.iter().filter(|m| m.operand == input).map(|m| m.weight).collect()
        };
        match self {
            Op::Matmul(op) if input == 0 => vec![op.weight],
            Op::ExpertMatmul(op) if input == 0 => vec![op.weight],
            Op::ExpertGateUp(op) if input == 0 => vec![op.gate, op.up],
            Op::MatmulGroup(op) => members(&op.members),
            Op::MatmulAdd(op) if input == 0 => vec![op.weight],
            // What is still to be normed stays in f32.
            Op::Qkv(op) if op.input_norm.is_none() => members(&op.members),
            Op::GateUp(op) if op.input_norm.is_none() => members(&op.members),
            _other => Vec::new(),
        }
    }
}
