//! Tests of the public face of the crate, over every format of the table.

mod encode;
mod golden;
mod grid;
mod rows;
mod table;
