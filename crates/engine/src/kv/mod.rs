//! The paged KV cache as bookkeeping: which page holds which positions of which sequence. Integers
//! alone; the pages' bytes are the devices'.

mod group;
mod pages;
mod prefix;

pub use group::{GroupConfig, Groups, Hit, PageCopy, Tables};
pub use pages::Pool;
pub use prefix::{BlockId, Prefix};

#[cfg(test)]
mod group_tests;
#[cfg(test)]
mod prefix_tests;
