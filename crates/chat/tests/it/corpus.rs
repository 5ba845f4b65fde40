//! The template corpus that tests/golden.py unpacks, and the conversations rendered with it.

use std::path::{Path, PathBuf};

use minfer_chat::{Message, Now, Request, SpecialTokens, Template, Tool};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What the templates are told the special tokens are.
pub fn tokens() -> SpecialTokens {
    SpecialTokens::new("<|bos|>", "<|eos|>")
}

/// The time of golden.py: 2025-03-04 15:06:07 at UTC+01:00.
pub const NOW: Now = Now { unix_seconds: 1_741_097_167, utc_offset_seconds: 3600 };

/// A conversation of tests/data/conversations.json.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub name: String,
    pub messages: Vec<Message>,
    pub tools: Option<Vec<Tool>>,
    #[serde(default = "yes")]
    pub add_generation_prompt: bool,
    #[serde(default)]
    pub kwargs: Map<String, Value>,
}

fn yes() -> bool {
    true
}

impl Case {
    pub fn request(&self) -> Request {
        Request {
            messages: self.messages.clone(),
            tools: self.tools.clone(),
            add_generation_prompt: self.add_generation_prompt,
            arguments: self.kwargs.clone(),
            now: NOW,
        }
    }
}

pub fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../data/conversations.json")).expect("valid conversations")
}

/// The folder that golden.py fills.
pub fn store() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/vocabularies")
}

/// The source of a template by its file's stem.
pub fn source(name: &str) -> String {
    let path = store().join("templates").join(name).with_added_extension("jinja");
    std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; run `cargo xtask models`, then \
             `python3 crates/chat/tests/golden.py --fetch`",
            path.display()
        )
    })
}

pub fn template(name: &str) -> Template {
    Template::new(&source(name), tokens()).unwrap_or_else(|error| panic!("{name}: {error}"))
}
