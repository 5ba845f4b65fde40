//! Scalar types and block formats: bytes to numbers and back.
