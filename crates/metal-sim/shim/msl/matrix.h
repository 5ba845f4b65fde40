// Matrices of C columns and R rows (specification 2.3), and functions of them (6.7).
#pragma once
#pragma clang system_header
#include "construct.h"

namespace metal {
template <class T, int C, int R>
struct matrix {
  static_assert(C >= 2 && C <= 4 && R >= 2 && R <= 4, "a matrix has 2 to 4 columns and rows");
  typedef vec<T, R> column;
  column columns[C];

  matrix() = default;
  MSIM_INLINE explicit matrix(T diagonal) {
    for (int c = 0; c < C; c++) {
      columns[c] = column(T(0));
      if (c < R) columns[c][c] = diagonal;
    }
  }
  // Columns, or all components column by column.
  template <class... A, enable_if_t<sizeof...(A) == C || sizeof...(A) == C * R, int> = 0>
  MSIM_INLINE matrix(A... parts) {
    if constexpr (sizeof...(A) == C) {
      int at = 0;
      ((columns[at++] = parts), ...);
    } else {
      int at = 0;
      ((columns[at / R][at % R] = msim_convert<T>(parts), at++), ...);
    }
  }
  template <class U, enable_if_t<!__is_same(T, U), int> = 0>
  MSIM_INLINE explicit matrix(matrix<U, C, R> other) {
    for (int c = 0; c < C; c++) columns[c] = msim_convert_vector<column>(other[c]);
  }
  matrix(const matrix&) = default;
  matrix& operator=(const matrix&) = default;
#ifdef MSIM_STRICT
  matrix(device const matrix&);
  matrix(threadgroup const matrix&);
  matrix(constant matrix&);
  template <class S>
  void operator=(this S& self, type_identity_t<matrix> other);
#endif

  // An explicit object: the same for an object in any address space.
  template <class S>
  MSIM_INLINE auto& operator[](this S&& self, int c) {
    return self.columns[c];
  }
  MSIM_INLINE matrix operator-() const { return *this * T(-1); }
#define MSIM_MATRIX_SUM(op)                                                            \
  friend MSIM_INLINE matrix operator op(matrix a, matrix b) {                          \
    for (int c = 0; c < C; c++) a.columns[c] = a.columns[c] op b.columns[c];           \
    return a;                                                                          \
  }                                                                                    \
  template <class S>                                                                   \
  MSIM_INLINE void operator op##=(this S & self, type_identity_t<matrix> other) {      \
    for (int c = 0; c < C; c++) self.columns[c] = self.columns[c] op other.columns[c]; \
  }
  MSIM_MATRIX_SUM(+)
  MSIM_MATRIX_SUM(-)
#undef MSIM_MATRIX_SUM
  friend MSIM_INLINE matrix operator*(matrix a, T scale) {
    for (int c = 0; c < C; c++) a.columns[c] = a.columns[c] * scale;
    return a;
  }
  friend MSIM_INLINE matrix operator*(T scale, matrix a) { return a * scale; }
  template <class S, class B>
  MSIM_INLINE void operator*=(this S& self, B b) {
    self = matrix(self) * b;
  }
  friend MSIM_INLINE column operator*(matrix a, vec<T, C> v) {
    column sum = a.columns[0] * v[0];
    for (int c = 1; c < C; c++) sum += a.columns[c] * v[c];
    return sum;
  }
  friend MSIM_INLINE vec<T, C> operator*(column v, matrix a) {
    vec<T, C> result;
    for (int c = 0; c < C; c++) {
      T sum = v[0] * a.columns[c][0];
      for (int r = 1; r < R; r++) sum += v[r] * a.columns[c][r];
      result[c] = sum;
    }
    return result;
  }
  friend MSIM_INLINE bool operator==(matrix a, matrix b) {
    bool equal = true;
    for (int c = 0; c < C; c++)
      for (int r = 0; r < R; r++) equal = equal && a.columns[c][r] == b.columns[c][r];
    return equal;
  }
  friend MSIM_INLINE bool operator!=(matrix a, matrix b) { return !(a == b); }
};

template <class T, int K, int R, int C>
MSIM_INLINE matrix<T, C, R> operator*(matrix<T, K, R> a, matrix<T, C, K> b) {
  matrix<T, C, R> result;
  for (int c = 0; c < C; c++) result.columns[c] = a * b.columns[c];
  return result;
}

template <class T, int C, int R>
MSIM_INLINE matrix<T, R, C> transpose(matrix<T, C, R> a) {
  matrix<T, R, C> result;
  for (int c = 0; c < C; c++)
    for (int r = 0; r < R; r++) result.columns[r][c] = a.columns[c][r];
  return result;
}

template <class T>
MSIM_INLINE T determinant(matrix<T, 2, 2> a) {
  return a[0][0] * a[1][1] - a[1][0] * a[0][1];
}
// By the first row; `skip` picks the other columns.
template <class T, int N>
MSIM_INLINE T determinant(matrix<T, N, N> a) {
  T sum = 0;
  for (int skip = 0; skip < N; skip++) {
    matrix<T, N - 1, N - 1> minor;
    for (int c = 0; c < N - 1; c++)
      for (int r = 0; r < N - 1; r++) minor.columns[c][r] = a[c < skip ? c : c + 1][r + 1];
    const T term = a[skip][0] * determinant(minor);
    sum = skip % 2 ? sum - term : sum + term;
  }
  return sum;
}
}  // namespace metal

#define MSIM_MATRIX_TYPE(T, C, R)            \
  typedef metal::matrix<T, C, R> T##C##x##R; \
  namespace metal {                          \
  using ::T##C##x##R;                        \
  }
#define MSIM_MATRIX_TYPES(T)                                                    \
  MSIM_MATRIX_TYPE(T, 2, 2) MSIM_MATRIX_TYPE(T, 2, 3) MSIM_MATRIX_TYPE(T, 2, 4) \
  MSIM_MATRIX_TYPE(T, 3, 2) MSIM_MATRIX_TYPE(T, 3, 3) MSIM_MATRIX_TYPE(T, 3, 4) \
  MSIM_MATRIX_TYPE(T, 4, 2) MSIM_MATRIX_TYPE(T, 4, 3) MSIM_MATRIX_TYPE(T, 4, 4)
MSIM_FLOATS(MSIM_MATRIX_TYPES)
#undef MSIM_MATRIX_TYPES
#undef MSIM_MATRIX_TYPE
