//! A value while it is computed with: its live rows, row-major.

use minfer_graph::TensorType;
use minfer_quant::DType;

use crate::memory::numbers;
use crate::real::Real;

/// Live rows of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tensor<T> {
    /// An f32 value (in f64 mode: f64).
    Real {
        /// Elements in a row.
        cols: usize,
        /// All rows.
        data: Vec<T>,
    },
    /// An i32 value.
    Index {
        /// Elements in a row.
        cols: usize,
        /// All rows.
        data: Vec<i32>,
    },
    /// A quantized value; the same bytes in both modes.
    Quantized {
        /// `Q8_0` or `Q8_K`.
        dtype: DType,
        /// Elements in a row.
        cols: usize,
        /// All rows, planar records.
        bytes: Vec<u8>,
    },
}

impl<T: Real> Tensor<T> {
    pub(crate) fn real(cols: usize, data: Vec<T>) -> Tensor<T> {
        Tensor::Real { cols, data }
    }

    pub(crate) fn index(cols: usize, data: Vec<i32>) -> Tensor<T> {
        Tensor::Index { cols, data }
    }

    /// Elements in a row.
    pub(crate) fn cols(&self) -> usize {
        match self {
            Tensor::Real { cols, .. }
            | Tensor::Index { cols, .. }
            | Tensor::Quantized { cols, .. } => *cols,
        }
    }

    /// Elements of a value whose op takes f32 there.
    pub(crate) fn reals(&self) -> &[T] {
        match self {
            Tensor::Real { data, .. } => data,
            Tensor::Index { .. } | Tensor::Quantized { .. } => {
                unreachable!("verified: the operand is f32")
            }
        }
    }

    /// Elements of a value whose op takes i32 there.
    pub(crate) fn indices(&self) -> &[i32] {
        match self {
            Tensor::Index { data, .. } => data,
            Tensor::Real { .. } | Tensor::Quantized { .. } => {
                unreachable!("verified: the operand is i32")
            }
        }
    }

    /// Rows of an f32 value.
    pub(crate) fn real_rows(&self) -> std::slice::ChunksExact<'_, T> {
        self.reals().chunks_exact(self.cols().max(1))
    }

    /// Rows of an i32 value.
    pub(crate) fn index_rows(&self) -> std::slice::ChunksExact<'_, i32> {
        self.indices().chunks_exact(self.cols().max(1))
    }

    /// A new f32 value, each row a function of this one's row.
    pub(crate) fn map_rows(&self, row: impl Fn(&[T]) -> Vec<T>) -> Tensor<T> {
        Tensor::real(self.cols(), self.real_rows().flat_map(row).collect())
    }

    /// A new f32 value, each element a function of this one's element.
    pub(crate) fn map(&self, element: impl Fn(T) -> T) -> Tensor<T> {
        Tensor::real(self.cols(), self.reals().iter().map(|&x| element(x)).collect())
    }

    /// A new f32 value, each element a function of two values' elements.
    pub(crate) fn zip(&self, other: &Tensor<T>, element: impl Fn(T, T) -> T) -> Tensor<T> {
        let pairs = self.reals().iter().zip(other.reals());
        Tensor::real(self.cols(), pairs.map(|(&a, &b)| element(a, b)).collect())
    }

    /// The value of type `ty` that lies in memory as `bytes`.
    pub(crate) fn from_bytes(ty: TensorType, bytes: &[u8]) -> Tensor<T> {
        match ty.dtype {
            DType::F32 => {
                Tensor::real(ty.cols, numbers(bytes, |x| T::widen(f32::from_ne_bytes(x))))
            }
            DType::I32 => Tensor::index(ty.cols, numbers(bytes, i32::from_ne_bytes)),
            DType::Q8_0 | DType::Q8_K | DType::Q16_0 => {
                Tensor::Quantized { dtype: ty.dtype, cols: ty.cols, bytes: bytes.to_vec() }
            }
            DType::F16 | DType::BF16 => unreachable!("no op defines or takes {}", ty.dtype.name()),
        }
    }

    /// The value as it lies in memory; in f64 mode rounded to f32.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Tensor::Real { data, .. } => {
                let data: Vec<f32> = data.iter().map(|x| x.narrow()).collect();
                bytemuck::cast_slice(&data).to_vec()
            }
            Tensor::Index { data, .. } => bytemuck::cast_slice(data).to_vec(),
            Tensor::Quantized { bytes, .. } => bytes.clone(),
        }
    }
}
