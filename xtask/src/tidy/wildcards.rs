//! No catch-all arm over `Op` or `Quant`: the compiler has to list what a new one still needs.

use super::{Finding, Source};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Pat, UseTree};

/// The closed enums that every match names in full.
const CLOSED: [&str; 2] = ["Op", "Quant"];

/// Catch-all arms beside arms that name a variant of a closed enum, and imports that would let
/// variants stand without the enum's name.
pub fn check(source: &Source) -> Vec<Finding> {
    let Some(syntax) = &source.syntax else { return Vec::new() };
    let mut matches = Matches { path: &source.path, within: None, findings: Vec::new() };
    matches.visit_file(syntax);
    matches.findings
}

struct Matches<'a> {
    path: &'a str,
    /// The type whose `impl` is being read, when it is a closed one: `Self` means it.
    within: Option<&'static str>,
    findings: Vec<Finding>,
}

impl Matches<'_> {
    /// The closed enum of which this pattern names a variant, if any.
    fn names(&self, pattern: &Pat) -> Option<&'static str> {
        match pattern {
            Pat::Path(path) => self.of(&path.path),
            Pat::Struct(pattern) => self.of(&pattern.path),
            Pat::TupleStruct(pattern) => self
                .of(&pattern.path)
                .or_else(|| pattern.elems.iter().find_map(|part| self.names(part))),
            Pat::Ident(pattern) => self.names(&pattern.subpat.as_ref()?.1),
            Pat::Or(pattern) => pattern.cases.iter().find_map(|case| self.names(case)),
            Pat::Tuple(pattern) => pattern.elems.iter().find_map(|part| self.names(part)),
            Pat::Slice(pattern) => pattern.elems.iter().find_map(|part| self.names(part)),
            Pat::Paren(pattern) => self.names(&pattern.pat),
            Pat::Reference(pattern) => self.names(&pattern.pat),
            _ => None,
        }
    }

    /// `Op::Add`, `graph::Op::Add`, or `Self::Add` inside `impl Op`.
    fn of(&self, path: &syn::Path) -> Option<&'static str> {
        let owner = path.segments.iter().rev().nth(1)?.ident.to_string();
        if owner == "Self" {
            return self.within;
        }
        CLOSED.into_iter().find(|closed| *closed == owner)
    }
}

/// `_`, `other`, and tuples of nothing else.
fn catches_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) | Pat::Rest(_) => true,
        // A bare name in capitals is a constant.
        Pat::Ident(pattern) => {
            pattern.subpat.is_none() && pattern.ident.to_string().starts_with(char::is_lowercase)
        }
        Pat::Paren(pattern) => catches_all(&pattern.pat),
        Pat::Reference(pattern) => catches_all(&pattern.pat),
        Pat::Or(pattern) => pattern.cases.iter().any(catches_all),
        Pat::Tuple(pattern) => pattern.elems.iter().all(catches_all),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Matches<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let owner = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let outer = self.within;
        self.within = CLOSED.into_iter().find(|closed| Some(*closed) == owner.as_deref());
        visit::visit_item_impl(self, item);
        self.within = outer;
    }

    fn visit_expr_match(&mut self, item: &'ast syn::ExprMatch) {
        if let Some(closed) = item.arms.iter().find_map(|arm| self.names(&arm.pat)) {
            let all = item.arms.iter().filter(|arm| arm.guard.is_none() && catches_all(&arm.pat));
            for arm in all {
                let line = arm.pat.span().start().line;
                let message = format!("a catch-all arm over `{closed}`: name every variant");
                self.findings.push(Finding::new(self.path, line, "wildcard", message));
            }
        }
        visit::visit_expr_match(self, item);
    }

    fn visit_use_path(&mut self, item: &'ast syn::UsePath) {
        let closed = CLOSED.into_iter().find(|closed| item.ident == closed);
        if let (Some(closed), UseTree::Glob(_)) = (closed, &*item.tree) {
            let line = item.ident.span().start().line;
            let message = format!("variants of `{closed}` stand with its name");
            self.findings.push(Finding::new(self.path, line, "wildcard", message));
        }
        visit::visit_use_path(self, item);
    }
}

#[cfg(test)]
#[path = "wildcards_tests.rs"]
mod tests;
