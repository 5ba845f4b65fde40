//! A model's reply to content, reasoning and tool calls, whole or as it streams.
//!
//! This is for the formats that most models share: reasoning between two tags, tool calls as JSON
//! in `<tool_call>` tags (Hermes, Qwen), as a bare JSON object (Llama 3), or as a list after
//! `[TOOL_CALLS]` (Mistral). It repairs nothing: what does not parse as a call stays content, word
//! for word. Nothing that could still become a tag is emitted.

use serde_json::{Map, Value};

/// Where a model writes tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolFormat {
    /// Nowhere: all text is content.
    #[default]
    None,
    /// `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number of them.
    Hermes,
    /// The whole reply is `{"name": …, "parameters": {…}}`, perhaps after `<|python_tag|>`.
    Llama3,
    /// `[TOOL_CALLS][{"name": …, "arguments": {…}}, …]` to the end of the reply.
    Mistral,
}

/// How a model's replies are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplyFormat {
    /// The tags around reasoning.
    pub reasoning: Option<(String, String)>,
    /// Whether the prompt has opened the reasoning already.
    pub starts_in_reasoning: bool,
    /// The form of tool calls.
    pub tools: ToolFormat,
}

impl ReplyFormat {
    /// The format that a template's source and the end of its prompt tell of.
    pub fn detect(template_source: &str, prompt: &str) -> ReplyFormat {
        let reasoning = template_source.contains("</think>");
        let tools = if template_source.contains("[TOOL_CALLS]") {
            ToolFormat::Mistral
        } else if template_source.contains("<tool_call>") {
            ToolFormat::Hermes
        } else if template_source.contains("<|python_tag|>")
            || template_source.contains("\"parameters\": dictionary")
        {
            ToolFormat::Llama3
        } else {
            ToolFormat::None
        };
        ReplyFormat {
            reasoning: reasoning.then(|| ("<think>".into(), "</think>".into())),
            starts_in_reasoning: reasoning && prompt.trim_end().ends_with("<think>"),
            tools,
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments by name.
    pub arguments: Map<String, Value>,
    /// The call's id, if the model gave one.
    pub id: Option<String>,
}

impl ToolCall {
    fn from_json(value: &Value) -> Option<ToolCall> {
        let arguments = match value.get("arguments").or_else(|| value.get("parameters")) {
            Some(Value::Object(arguments)) => arguments.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(_) => return None,
        };
        Some(ToolCall {
            name: value.get("name")?.as_str()?.to_owned(),
            arguments,
            id: value.get("id").and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// One call, or a list of calls; `None` if any of it is something else.
    fn all_from(text: &str) -> Option<Vec<ToolCall>> {
        match serde_json::from_str(text.trim()).ok()? {
            Value::Array(calls) => calls.iter().map(ToolCall::from_json).collect(),
            call => Some(vec![ToolCall::from_json(&call)?]),
        }
    }
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Text for the user.
    Content(String),
    /// Text of the model's reasoning.
    Reasoning(String),
    /// A whole tool call.
    ToolCall(ToolCall),
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Text for the user, without white space around reasoning and calls.
    pub content: String,
    /// The model's reasoning, if it wrote any.
    pub reasoning: Option<String>,
    /// The calls, in order.
    pub tool_calls: Vec<ToolCall>,
}

impl Reply {
    /// Parses a whole reply.
    pub fn parse(text: &str, format: ReplyFormat) -> Reply {
        let mut parser = ReplyParser::new(format);
        let mut reply = Reply::default();
        let events = parser.push(text);
        for event in events.into_iter().chain(parser.finish()) {
            match event {
                Event::Content(text) => reply.content += &text,
                Event::Reasoning(text) => *reply.reasoning.get_or_insert_default() += &text,
                Event::ToolCall(call) => reply.tool_calls.push(call),
            }
        }
        reply
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Content,
    Reasoning,
    /// Inside a call with these tags around it; an empty closing tag means the end of the reply.
    Call(&'static str, &'static str),
}

/// Splits a reply as it streams. The events do not depend on how the text is cut.
#[derive(Debug, Clone)]
pub struct ReplyParser {
    format: ReplyFormat,
    state: State,
    /// Text not yet emitted: a possible tag, white space before one, or a call's body.
    held: String,
    /// How much of `held` is known to hold no closing tag.
    searched: usize,
    /// White space before the call's tag, which stays if it is none.
    space: String,
    /// White space that leads a stretch of text is dropped.
    at_start: bool,
    /// Whether any content has been emitted.
    has_content: bool,
}

impl ReplyParser {
    /// A parser at the beginning of a reply.
    pub fn new(format: ReplyFormat) -> ReplyParser {
        let reasoning = format.starts_in_reasoning && format.reasoning.is_some();
        ReplyParser {
            state: if reasoning { State::Reasoning } else { State::Content },
            format,
            held: String::new(),
            searched: 0,
            space: String::new(),
            at_start: reasoning,
            has_content: false,
        }
    }

    /// Takes more of the reply and gives what is certain.
    pub fn push(&mut self, text: &str) -> Vec<Event> {
        self.held.push_str(text);
        let mut events = Vec::new();
        while self.step(&mut events) {}
        events
    }

    /// Takes the end of the reply and gives the rest.
    pub fn finish(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let rest = std::mem::take(&mut self.held);
        self.searched = 0;
        match self.state {
            State::Call(open, close) => self.end_call(open, &rest, close, false, &mut events),
            State::Content | State::Reasoning => self.emit(&rest, &mut events),
        }
        events
    }

    /// Passes one tag, or emits what cannot be part of one; false when it needs more text.
    fn step(&mut self, events: &mut Vec<Event>) -> bool {
        if let State::Call(open, close) = self.state {
            return self.step_call(open, close, events);
        }
        if self.state == State::Content
            && self.format.tools == ToolFormat::Llama3
            && !self.has_content
        {
            let start = self.held.trim_start();
            if start.starts_with('{') || start.starts_with(PYTHON_TAG) {
                self.state = State::Call("", "");
                return true;
            }
            if PYTHON_TAG.starts_with(start) {
                return false;
            }
        }
        let tags = self.tags();
        let first = tags
            .iter()
            .filter_map(|(tag, next)| Some((self.held.find(tag.as_str())?, tag.len(), *next)))
            .min_by_key(|(at, ..)| *at);
        if let Some((at, length, next)) = first {
            let before = self.held[..at].trim_end().to_owned();
            self.space = self.held[before.len()..at].to_owned();
            self.held.drain(..at + length);
            self.emit(&before, events);
            self.state = next;
            self.at_start |= !matches!(next, State::Call(..));
            return true;
        }
        let safe = self.held.len() - held_back(&self.held, &tags);
        let text: String = self.held.drain(..safe).collect();
        self.emit(&text, events);
        false
    }

    fn step_call(
        &mut self,
        open: &'static str,
        close: &'static str,
        events: &mut Vec<Event>,
    ) -> bool {
        if close.is_empty() {
            return false;
        }
        let from = self.held.floor_char_boundary(self.searched);
        let Some(at) = self.held[from..].find(close).map(|at| from + at) else {
            self.searched = self.held.len().saturating_sub(close.len());
            return false;
        };
        let body: String = self.held.drain(..at + close.len()).collect();
        self.searched = 0;
        self.end_call(open, &body[..at], close, true, events);
        true
    }

    /// Emits a call's events, or its text as it stood if it is none.
    fn end_call(
        &mut self,
        open: &str,
        body: &str,
        close: &str,
        closed: bool,
        events: &mut Vec<Event>,
    ) {
        self.state = State::Content;
        let json = body.trim_start().strip_prefix(PYTHON_TAG).unwrap_or(body);
        if let Some(calls) = ToolCall::all_from(json) {
            events.extend(calls.into_iter().map(Event::ToolCall));
            self.at_start = true;
        } else {
            let space = std::mem::take(&mut self.space);
            let close = if closed { close } else { "" };
            self.emit(&format!("{space}{open}{body}{close}"), events);
        }
    }

    fn tags(&self) -> Vec<(String, State)> {
        let mut tags = Vec::new();
        match (&self.format.reasoning, self.state) {
            (Some((_, close)), State::Reasoning) => return vec![(close.clone(), State::Content)],
            (Some((open, _)), _) => tags.push((open.clone(), State::Reasoning)),
            (None, _) => {}
        }
        match self.format.tools {
            ToolFormat::Hermes => {
                let (open, close) = ("<tool_call>", "</tool_call>");
                tags.push((open.into(), State::Call(open, close)));
            }
            ToolFormat::Mistral => {
                tags.push(("[TOOL_CALLS]".into(), State::Call("[TOOL_CALLS]", "")));
            }
            ToolFormat::None | ToolFormat::Llama3 => {}
        }
        tags
    }

    fn emit(&mut self, text: &str, events: &mut Vec<Event>) {
        let text = if self.at_start { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.at_start = false;
        if self.state == State::Reasoning {
            events.push(Event::Reasoning(text.to_owned()));
        } else {
            self.has_content = true;
            events.push(Event::Content(text.to_owned()));
        }
    }
}

/// Opens Llama 3's calls of built-in tools.
const PYTHON_TAG: &str = "<|python_tag|>";

/// Bytes at the end of `text` that may be the beginning of a tag, with white space before them.
fn held_back(text: &str, tags: &[(String, State)]) -> usize {
    let partial = tags
        .iter()
        .flat_map(|(tag, _)| {
            (1..tag.len())
                .filter(|&length| tag.is_char_boundary(length))
                .filter(|&length| text.ends_with(&tag[..length]))
        })
        .max()
        .unwrap_or(0);
    let before = &text[..text.len() - partial];
    text.len() - before.trim_end().len()
}

#[cfg(test)]
mod tests;
