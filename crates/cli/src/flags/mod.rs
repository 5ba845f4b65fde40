//! The one table of flags, and everything that is made from it: the parser, help, completions, the
//! man page, the names of environment variables, the keys of the configuration file, `minfer
//! config` and `docs/generated/flags.md`.
//!
//! A row has one name. It is the long flag (`--ctx-size`), the key of the configuration file
//! (`ctx-size`) and, in capitals, the environment variable (`MINFER_CTX_SIZE`). Command line beats
//! environment beats file beats default. A value means the same wherever it comes from; there is
//! one rule for booleans, [`value::boolean`].

pub mod command_line;
pub mod config_file;
pub mod exclusive;
mod foreign;
pub mod nearest;
pub mod pages;
mod row;
pub mod settings;
pub mod table;
pub mod unused;
pub mod value;

#[cfg(test)]
mod tests;

pub use row::{Flag, Kind, Theme, Verb};
