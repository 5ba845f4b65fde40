//! `NSURL`: the address of a file.

use super::Text;
use crate::objc::abi::Sel;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id, Strong, declare_class_methods};
use std::path::{Path, PathBuf};

class!(NS_URL, NS_URL_META, "NSURL", None, declare, declare_class);

/// A path.
pub(in crate::objc) struct Url(PathBuf);

impl Url {
    pub(in crate::objc) fn path(&self) -> &Path {
        &self.0
    }
}

impl Body for Url {
    fn class() -> &'static Class {
        &NS_URL
    }
}

fn declare(table: &mut Methods) {
    methods! { table, Url;
        c"isFileURL" = |_url| -> u8 { 1 }
        c"path" = |url| -> Id {
            Strong::new(Text::new(url.0.display().to_string())).autorelease()
        }
    }
}

fn declare_class(table: &mut Methods) {
    extern "C-unwind" fn of_path(_: Id, _: Sel, path: Id) -> Id {
        let path = Text::of(path, "the path").unwrap_or_default();
        Strong::new(Url(PathBuf::from(path))).autorelease()
    }
    declare_class_methods(table);
    table.add(c"fileURLWithPath:", of_path as extern "C-unwind" fn(Id, Sel, Id) -> Id);
}
