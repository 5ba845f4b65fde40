//! Tests of the GGUF reader and writer against bytes made by hand.

mod accept;
mod child;
mod corpus;
mod damage;
mod limits;
mod mapping;
mod messages;
mod metadata;
mod models;
mod raw;
mod round_trip;
mod split;
