//! What a template is given: messages, tools, special tokens, the time.
//!
//! Messages and tools stay the JSON they came as, since templates ask for fields that no list of
//! ours would hold (and ask whether a field is null or absent); only what every template relies on
//! is checked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Error;

/// One chat message: a JSON object with at least `role`, in the form of the OpenAI API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Message {
    fields: Map<String, Value>,
}

impl Message {
    /// A message of plain text.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Message {
        let mut fields = Map::new();
        fields.insert("role".into(), Value::String(role.into()));
        fields.insert("content".into(), Value::String(content.into()));
        Message { fields }
    }

    /// A message with all the fields given.
    pub fn from_fields(fields: Map<String, Value>) -> Message {
        Message { fields }
    }

    /// All fields, in the order in which they came.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Sets a field such as `name`, `tool_calls` or `reasoning_content`.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Message {
        self.fields.insert(field.into(), value.into());
        self
    }

    /// Who speaks; empty where the field is missing, which [`crate::Template::render`] refuses.
    pub fn role(&self) -> &str {
        self.fields.get("role").and_then(Value::as_str).unwrap_or_default()
    }

    /// The text of the content: a string as it is, text parts joined, `None` for null or nothing.
    pub fn text(&self) -> Option<String> {
        match self.fields.get("content")? {
            Value::String(text) => Some(text.clone()),
            Value::Array(parts) => {
                Some(parts.iter().filter_map(|p| p.get("text")?.as_str()).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
        }
    }

    /// Replaces a list of text parts by its text, for templates that know only strings.
    pub fn join_parts(&mut self) {
        if let (Some(Value::Array(_)), Some(text)) = (self.fields.get("content"), self.text()) {
            self.fields.insert("content".into(), Value::String(text));
        }
    }

    /// Turns tool-call arguments that are JSON text into the objects they spell. The OpenAI API has
    /// text where most templates expect an object.
    pub fn parse_arguments(&mut self) {
        let Some(Value::Array(calls)) = self.fields.get_mut("tool_calls") else { return };
        for call in calls {
            let Some(arguments) = call.pointer_mut("/function/arguments") else { continue };
            let parsed = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
            if let Some(parsed @ Value::Object(_)) = parsed {
                *arguments = parsed;
            }
        }
    }

    /// Checks role and content; `index` is for the error.
    pub(crate) fn check(&self, index: usize) -> Result<(), Error> {
        let problem = |expected, found: Option<&Value>| Error::Message {
            index,
            expected,
            found: found.map_or("nothing".into(), |value| kind(value).into()),
        };
        let role = self.fields.get("role");
        if !role.is_some_and(Value::is_string) {
            return Err(problem("a text `role`", role));
        }
        match self.fields.get("content") {
            None | Some(Value::Null | Value::String(_) | Value::Array(_)) => Ok(()),
            other => Err(problem("`content` as text, a list of parts, or null", other)),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A tool's description: JSON schema in the form of the OpenAI API, handed to the template as it
/// is.
pub type Tool = Value;

/// Seconds since 1970-01-01 00:00 UTC, and the offset of local time from UTC, for templates that
/// print the date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Now {
    /// Seconds since the epoch.
    pub unix_seconds: i64,
    /// Local time minus UTC, in seconds.
    pub utc_offset_seconds: i32,
}

/// What one render is about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools on offer; `None` is Jinja's `none`.
    pub tools: Option<Vec<Tool>>,
    /// Ends the prompt with the opening of the assistant's turn.
    pub add_generation_prompt: bool,
    /// Further template variables, such as `enable_thinking`.
    pub arguments: Map<String, Value>,
    /// The time that `strftime_now` tells.
    pub now: Now,
}

/// The texts of the model's special tokens that templates ask for (`bos_token`, `eos_token`, …).
/// Absent ones are undefined in the template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpecialTokens {
    /// Begins a sequence.
    pub bos: Option<String>,
    /// Ends a sequence.
    pub eos: Option<String>,
    /// Fills a batch.
    pub pad: Option<String>,
    /// Stands for unknown text.
    pub unk: Option<String>,
}

impl SpecialTokens {
    /// Begin and end only.
    pub fn new(bos: impl Into<String>, eos: impl Into<String>) -> SpecialTokens {
        SpecialTokens { bos: Some(bos.into()), eos: Some(eos.into()), ..Default::default() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("bos_token", &self.bos),
            ("eos_token", &self.eos),
            ("pad_token", &self.pad),
            ("unk_token", &self.unk),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name, text.as_deref()?)))
    }
}

#[cfg(test)]
mod tests;
