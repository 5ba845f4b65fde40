//! The definitions, one file per op, and the one list that leads to them.

pub(crate) mod add;
pub(crate) mod add_norm;
pub(crate) mod argmax;
pub(crate) mod attention;
pub(crate) mod embed;
pub(crate) mod expert_combine;
pub(crate) mod expert_gate_up;
pub(crate) mod expert_matmul;
pub(crate) mod gate_up;
pub(crate) mod get_rows;
pub(crate) mod glu;
pub(crate) mod glu_quantize;
pub(crate) mod kv_store;
pub(crate) mod matmul;
pub(crate) mod matmul_add;
pub(crate) mod matmul_group;
pub(crate) mod mul;
pub(crate) mod norm_add;
pub(crate) mod norm_matmul;
pub(crate) mod norm_quantize;
pub(crate) mod qk_norm;
pub(crate) mod qkv;
pub(crate) mod quantize_rows;
pub(crate) mod rms_norm;
pub(crate) mod rope;
pub(crate) mod route;
pub(crate) mod scale;
pub(crate) mod softmax;
pub(crate) mod top_k;
pub(crate) mod unary;

use minfer_graph::Op;

use crate::cache::Caches;
use crate::real::Real;
use crate::tensor::Tensor;
use crate::weights::Weights;

/// What ops read and write besides their operands.
pub(crate) struct Env<'a> {
    /// The model's weights.
    pub(crate) weights: &'a Weights,
    /// The engine's K/V caches.
    pub(crate) caches: &'a mut Caches,
    /// Partial results that attention may keep at once.
    pub(crate) partials: usize,
    /// Workers among which a matmul's rows are shared out.
    pub(crate) threads: usize,
}

/// The outputs of an op of a verified graph.
pub(crate) fn run<T: Real>(op: &Op, inputs: &[Tensor<T>], env: &mut Env<'_>) -> Vec<Tensor<T>> {
    let x = &inputs[0];
    match op {
        Op::Embed(op) => vec![embed::run(op, x, env)],
        Op::GetRows(_) => vec![get_rows::run(x, &inputs[1])],
        Op::QuantizeRows(op) => vec![quantize_rows::run(op.dtype, x)],
        Op::Matmul(op) => vec![matmul::run(op.weight, op.bias, x, env)],
        Op::MatmulGroup(op) => matmul_group::run(&op.members, inputs, env),
        Op::Add(_) => vec![add::run(x, &inputs[1])],
        Op::Mul(_) => vec![mul::run(x, &inputs[1])],
        Op::Scale(op) => vec![scale::run(op, x)],
        Op::Unary(op) => vec![unary::run(op.function, x)],
        Op::RmsNorm(op) => vec![rms_norm::run(op.weight, op.eps, x, env)],
        Op::QkNorm(op) => vec![qk_norm::run(op, x, env)],
        Op::Rope(op) => vec![rope::run(op, x, &inputs[1])],
        Op::KvStore(op) => {
            kv_store::run(op.state, [x, &inputs[1], &inputs[2]], env);
            Vec::new()
        }
        Op::Attention(op) => vec![attention::run(op, inputs, env)],
        Op::Softmax(_) => vec![softmax::run(x)],
        Op::Route(op) => route::run(op, x),
        Op::ExpertMatmul(op) => vec![expert_matmul::run(op, x, &inputs[1], env)],
        Op::ExpertCombine(_) => vec![expert_combine::run(x, &inputs[1])],
        Op::Argmax(_) => vec![argmax::run(x)],
        Op::TopK(op) => top_k::run(op, x),
        Op::Glu(op) => vec![glu::run(op.function, x, &inputs[1])],
        Op::AddNorm(op) => add_norm::run(op, x, &inputs[1], env),
        Op::NormQuantize(op) => vec![norm_quantize::run(op, x, env)],
        Op::GluQuantize(op) => vec![glu_quantize::run(op, x, &inputs[1])],
        Op::NormMatmul(op) => norm_matmul::run(op, x, env),
        Op::NormAdd(op) => vec![norm_add::run(op, x, &inputs[1], env)],
        Op::MatmulAdd(op) => vec![matmul_add::run(op, x, &inputs[1], env)],
        Op::Qkv(op) => vec![qkv::run(op, inputs, env)],
        Op::GateUp(op) => vec![gate_up::run(op, inputs, env)],
        Op::ExpertGateUp(op) => vec![expert_gate_up::run(op, x, &inputs[1], env)],
    }
}

#[cfg(test)]
pub(crate) mod tests;
