//! `top_k`: columns and elements of the k largest of a row, the lower column first among equals. A
//! row with a NaN gives columns of −1 and elements of NaN.

use minfer_graph::op::top_k::TopK;

use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &TopK, x: &Tensor<T>) -> Vec<Tensor<T>> {
    let (mut columns, mut elements) = (Vec::new(), Vec::new());
    for row in x.real_rows() {
        match largest(row, op.k) {
            Some(chosen) => {
                columns.extend(chosen.iter().map(|&column| column as i32));
                elements.extend(chosen.iter().map(|&column| row[column]));
            }
            None => {
                columns.extend(std::iter::repeat_n(-1, op.k));
                elements.extend(std::iter::repeat_n(T::NAN, op.k));
            }
        }
    }
    vec![Tensor::index(op.k, columns), Tensor::real(op.k, elements)]
}

/// Columns of the k largest elements in falling order, the lower first among equals; `None` for a
/// row with a NaN.
pub(crate) fn largest<T: Real>(row: &[T], k: usize) -> Option<Vec<usize>> {
    if row.iter().any(|x| x.is_nan()) {
        return None;
    }
    let mut columns: Vec<usize> = (0..row.len()).collect();
    columns.sort_by(|&a, &b| row[b].partial_cmp(&row[a]).expect("no NaN in the row"));
    columns.truncate(k);
    Some(columns)
}
