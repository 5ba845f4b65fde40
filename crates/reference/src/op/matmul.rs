//! `matmul`: `y[r, n] = x[r] · W[n] + b[n]`. f32 rows take the float dot product with the decoded
//! weight; quantized rows take the quantized one (in f64 mode: the decoded weight times `q ·
//! scale`).

use minfer_graph::WeightId;

use super::Env;
use crate::canonical::dot;
use crate::dot::{Activations, Unpacked};
use crate::real::{Mode, Real};
use crate::tensor::Tensor;
use crate::weights::Matrix;

/// Multiply-accumulates below which sharing out costs more than it gains.
const WORTH_SHARING: usize = 1 << 16;

pub(crate) fn run<T: Real>(
    weight: WeightId,
    bias: Option<WeightId>,
    x: &Tensor<T>,
    env: &Env<'_>,
) -> Tensor<T> {
    let matrix = env.weights.matrix(weight);
    let rows = Rows::of(x);
    let mut y = multiply(&matrix, 0, &rows, env.threads);
    if let Some(bias) = bias {
        let bias: Vec<T> = env.weights.vector(bias);
        for row in y.chunks_exact_mut(matrix.rows()) {
            for (y, &b) in row.iter_mut().zip(&bias) {
                *y = *y + b;
            }
        }
    }
    Tensor::real(matrix.rows(), y)
}

/// Activation rows in the form that a dot product takes.
pub(crate) enum Rows<'a, T> {
    Real(Vec<&'a [T]>),
    /// Quantized rows in f64 mode.
    Widened(Vec<Vec<T>>),
    Quantized(Vec<Activations>),
}

impl<'a, T: Real> Rows<'a, T> {
    pub(crate) fn of(x: &'a Tensor<T>) -> Rows<'a, T> {
        match x {
            Tensor::Real { .. } => Rows::Real(x.real_rows().collect()),
            Tensor::Quantized { dtype, cols, bytes } => {
                let row_bytes = dtype.row_bytes(*cols).expect("verified: whole blocks");
                let rows = bytes.chunks_exact(row_bytes.max(1));
                let rows = rows.map(|row| Activations::read(*dtype, *cols, row));
                match T::MODE {
                    Mode::Canonical => Rows::Quantized(rows.collect()),
                    Mode::F64 => Rows::Widened(
                        rows.map(|row| row.values().into_iter().map(T::of).collect()).collect(),
                    ),
                }
            }
            Tensor::Index { .. } => unreachable!("verified: activations are f32 or quantized"),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Rows::Real(rows) => rows.len(),
            Rows::Widened(rows) => rows.len(),
            Rows::Quantized(rows) => rows.len(),
        }
    }

    /// The row of one index alone.
    pub(crate) fn only(&self, row: usize) -> Rows<'_, T> {
        match self {
            Rows::Real(rows) => Rows::Real(vec![rows[row]]),
            Rows::Widened(rows) => Rows::Real(vec![&rows[row]]),
            Rows::Quantized(rows) => Rows::Quantized(vec![rows[row].clone()]),
        }
    }

    /// The products of all rows with one stored weight row.
    fn times(&self, matrix: &Matrix<'_>, weight: &[u8]) -> Vec<T> {
        match self {
            Rows::Real(rows) => {
                let weight = matrix.decode::<T>(weight);
                rows.iter().map(|row| dot(row, &weight)).collect()
            }
            Rows::Widened(rows) => {
                let weight = matrix.decode::<T>(weight);
                rows.iter().map(|row| dot(row, &weight)).collect()
            }
            Rows::Quantized(rows) => {
                let weight = Unpacked::row(matrix.quant(), weight)
                    .expect("lowered: float weights take f32 activations");
                rows.iter().map(|row| T::widen(weight.dot(row))).collect()
            }
        }
    }
}

/// `y[r, n]` for the matrix of one expert, row-major. Each weight row is unpacked once, and weight
/// rows are shared out among threads: an element is one worker's alone, so their number changes
/// nothing.
pub(crate) fn multiply<T: Real>(
    matrix: &Matrix<'_>,
    expert: i32,
    x: &Rows<'_, T>,
    threads: usize,
) -> Vec<T> {
    let (outputs, rows) = (matrix.rows(), x.len());
    let shared = outputs * rows * matrix.cols() >= WORTH_SHARING;
    let share = if shared { outputs.div_ceil(threads.max(1)) } else { outputs };
    let column = |n: usize| match matrix.row(expert, n as i32) {
        Some(weight) => x.times(matrix, weight),
        None => vec![T::NAN; rows],
    };
    let columns: Vec<Vec<T>> = std::thread::scope(|scope| {
        let column = &column;
        let worker = |first: usize| {
            let range = first..outputs.min(first + share);
            scope.spawn(move || range.map(column).collect::<Vec<_>>())
        };
        if share == outputs {
            return (0..outputs).map(column).collect();
        }
        let workers: Vec<_> = (0..outputs).step_by(share).map(worker).collect();
        workers.into_iter().flat_map(|w| w.join().expect("a worker only computes")).collect()
    });
    (0..rows).flat_map(|r| columns.iter().map(move |column| column[r])).collect()
}
