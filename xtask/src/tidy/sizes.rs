//! Sizes: a file is read in one sitting, a function on one screen, a `lib.rs` is a contents page.

use super::{Finding, Source};
use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

const FILE_LINES: usize = 600;
const CONTENTS_LINES: usize = 150;
const FUNCTION_LINES: usize = 70;

/// Files and functions that are too long.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !source.is_rust() {
        return findings;
    }
    let contents = source.path.ends_with("/lib.rs") || source.path.ends_with("/mod.rs");
    let limit = if contents { CONTENTS_LINES } else { FILE_LINES };
    let found = source.text.lines().count();
    if found > limit {
        let message = format!("{found} lines, at most {limit}: split it by what it is about");
        findings.push(Finding::new(&source.path, 0, "file size", message));
    }
    if let Some(syntax) = &source.syntax {
        let mut functions = Functions { path: &source.path, findings };
        functions.visit_file(syntax);
        findings = functions.findings;
    }
    findings
}

struct Functions<'a> {
    path: &'a str,
    findings: Vec<Finding>,
}

impl Functions<'_> {
    /// Counts from the signature to the closing brace; docs and attributes are free.
    fn measure(&mut self, signature: &syn::Signature, end: Span) {
        let start = signature.fn_token.span.start().line;
        let found = end.end().line - start + 1;
        if found > FUNCTION_LINES {
            let message =
                format!("`{}` has {found} lines, at most {FUNCTION_LINES}", signature.ident);
            self.findings.push(Finding::new(self.path, start, "function size", message));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, function.block.span());
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, function.block.span());
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.measure(&function.sig, function.span());
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
#[path = "sizes_tests.rs"]
mod tests;
