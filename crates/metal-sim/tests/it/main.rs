//! Integration tests, one module per concern.
