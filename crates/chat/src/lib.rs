//! Chat messages to prompts through the model's own template, and replies back to content,
//! reasoning and tool calls.
//!
//! This crate knows strings only: no tokens, no model, no file, no clock (the time of day and a
//! deadline are handed in). It is for Jinja chat templates as Hugging Face's `transformers` renders
//! them, and not a general Jinja engine: nothing can be included, loaded or written.
//!
//! Invariants:
//! - A template and a message are both hostile until shown otherwise: every render is bounded by
//!   [`Limits`], and every failure is an [`Error`].
//! - A user's text never becomes a control token. [`Rendered::pieces`] says which pieces of the
//!   prompt may be read for control tokens, and no such piece holds one that a user's text is part
//!   of. `marked` and `provenance` explain how.
//! - The text of the pieces, joined, is exactly what the template renders.

mod clock;
mod control;
mod error;
mod limits;
mod marked;
mod provenance;
mod python;
mod reply;
mod request;
mod source;
mod template;

pub use control::ControlTexts;
pub use error::Error;
pub use limits::Limits;
pub use provenance::{Piece, Rendered};
pub use reply::{Event, Reply, ReplyFormat, ReplyParser, ToolCall, ToolFormat};
pub use request::{Message, Now, Request, SpecialTokens, Tool};
pub use template::Template;
