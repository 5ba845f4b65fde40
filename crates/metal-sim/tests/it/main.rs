//! Integration tests, one module per concern.
mod by_hand;
