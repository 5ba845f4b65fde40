//! Tests of the crate as its users see it.

/// Ids and texts of real models, compared with recorded ones.
mod reference;
/// Ids in fetched vocabularies of other models.
mod vocabularies;
