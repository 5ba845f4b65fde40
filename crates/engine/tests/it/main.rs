//! The engine on tiny models.

mod generate;
mod tiny;
