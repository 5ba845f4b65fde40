//! Tests of the crate as its users see it.

/// Small vocabularies, made in memory.
mod make;

/// Begin, end and special tokens by the file's and the kind's rules.
mod rules;

/// Descriptions that contradict themselves.
mod hostile;

/// Merging, compared with its definition.
mod naive;

/// Merging, compared with another implementation.
mod oracle;

/// What holds for every text and every sequence of ids.
mod properties;

/// Ids and texts of real models, compared with recorded ones.
mod reference;

/// Ids in fetched vocabularies of other models.
mod vocabularies;
