//! Template source to what the engine reads. It is read once, by the engine's own grammar, and
//! written out with three sorts of changes; all else stays, comments and raw blocks with it.
//!
//! Two things of Jinja2 as Hugging Face sets it up the engine lacks:
//!
//! - `{% generation %}` blocks mark what an assistant wrote, for training. They become plain
//!   scopes, so that their whitespace control (`{%-`, `-%}`) works on.
//! - `a|safe + b` makes markup, which escapes `b` for HTML even where nothing else is escaped. The
//!   escape is written out wherever the source shows that an operand is markup: not through a
//!   variable, nor where one way of an `or` or an `if` gives plain text.
//!
//! Some things the engine leaves unbounded. It compiles and drops a long chain of operators by
//! recursion, and some of its operators give lists that are made up only when something walks them,
//! outside of its fuel. So too deep a syntax is refused, and filters (`python::held` defines them)
//! are written around
//!
//! - sums, products and slices that may be lists, to make them up at once ([`OWN`]);
//! - lists and objects written out, to bound how deep they nest ([`HOLD`]);
//! - operands of comparisons and of `in`, keys, and what is cut out of a string, to pay for their
//!   size first ([`PAY`]), and so operands of `~` ([`PAY_TEXT`]).
//!
//! Filters cannot be renamed by a template, and a constant is not folded through one. What is
//! certainly a small constant stays as it is, so that an ordinary template gets few of them.

mod expression;
mod lexer;
mod rewrite;

use std::collections::HashSet;

pub(crate) use self::expression::MARKUP_KEEPERS;
use crate::Error;

/// Escapes as MarkupSafe does. No template has a filter of this name, nor of those below.
pub(crate) const ESCAPE: &str = "__escape_for_markup";
/// Makes a list of what the engine would make up on the way.
pub(crate) const OWN: &str = "__own";
/// [`OWN`] all the way down, to a bounded depth.
pub(crate) const HOLD: &str = "__hold";
/// Pays for a comparison.
pub(crate) const PAY: &str = "__pay";
/// Pays for writing a value out as text.
pub(crate) const PAY_TEXT: &str = "__pay_text";

/// The source for the engine.
///
/// # Errors
/// [`Error::Syntax`], and [`Error::SyntaxTooDeep`] past `depth` levels.
pub(crate) fn for_engine(source: &str, depth: usize) -> Result<String, Error> {
    rewrite::rewrite(source, depth).map_err(|refusal| refusal.explain(source, depth))
}

/// Words and quoted strings of the source: what the template may compare a value with.
pub(crate) fn constants(source: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    for text in source.split(|c| !word(c)) {
        found.insert(text.to_owned());
    }
    for quote in ['"', '\''] {
        // Any stretch between two quotes: an apostrophe in the text may shift which are strings.
        for text in source.split(quote).filter(|text| text.len() <= 64) {
            found.insert(text.to_owned());
        }
    }
    found.remove("");
    found
}

#[cfg(test)]
mod tests;
