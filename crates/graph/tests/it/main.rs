//! Tests of the graph as its users see it.

mod builder;
mod composites;
mod cost;
mod shape_rules;
mod text;
mod types;
mod verifier;
mod world;
