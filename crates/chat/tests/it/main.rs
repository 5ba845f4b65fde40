//! Whole renders: against Jinja2 on other people's templates, and against hostile messages.

mod bounds;
mod corpus;
mod hostile;
mod jinja2;
mod limits;
mod sha256;
