//! Chat templates: any source over any conversation, within the limits; and replies in the format
//! that the source tells of.

use std::time::{Duration, Instant};

use minfer_chat::{
    ControlTexts, Error, Event, Limits, Message, Now, ReplyFormat, ReplyParser, Request,
    SpecialTokens, Template,
};
use serde_json::Value;

use crate::Outcome;

pub(crate) const DICTIONARY: &[&str] = &[
    "{{ ",
    " }}",
    "{% ",
    " %}",
    "{%- ",
    " -%}",
    "{# ",
    " #}",
    "{% for m in messages %}",
    "{% endfor %}",
    "{% if ",
    "{% elif ",
    "{% else %}",
    "{% endif %}",
    "{% set ",
    "{% macro f(a) %}",
    "{% endmacro %}",
    "{% endset %}",
    "{% break %}",
    "{% generation %}",
    "{% endgeneration %}",
    "{% filter upper %}",
    "{% endfilter %}",
    "message['content']",
    "messages[0].role",
    "messages[-1]",
    "namespace(",
    "ns.s",
    "range(",
    "raise_exception(",
    "strftime_now(",
    "%Y-%m-%d",
    "loop.index0",
    "loop.last",
    "loop.previtem",
    "| tojson(indent=4)",
    "| trim",
    "| length",
    "| join(',')",
    "| map(attribute='role') | list",
    "| selectattr('role')",
    "| items",
    "| default('')",
    "| replace('a', 'bb')",
    "| batch(2)",
    "| indent(4)",
    "| round",
    "| int",
    "| string",
    "| format",
    ".split('\\n')",
    ".strip()",
    ".replace(",
    ".startswith(",
    ".items()",
    ".get('x')",
    ".join(",
    "[::-1]",
    "[1:]",
    "[:]",
    "[[[[",
    "(x,)",
    "{1: x}",
    "{% set ns = namespace(x=[1]) %}",
    "{% for i in range(9999) %}",
    "{% set ns.x = ",
    "{% set a, b = ",
    "[ns.x]",
    "[ns.x, ns.x]",
    "ns.x + ns.x",
    " + ns.x",
    "[1] * 10 ** 8",
    "{% raw %}",
    "{% endraw %}",
    "{% with x = ",
    "{% endwith %}",
    "{% call f(1) %}",
    "{% endcall %}",
    "loop.changed(",
    "dict(",
    "*x",
    "**x",
    " if x else ",
    " or ",
    " not ",
    " == ",
    " in ",
    " is eq ",
    "| reverse",
    "| groupby('role')",
    "| dictsort",
    "| sort",
    "| sum(start=[])",
    "| pprint",
    "| slice(9)",
    ".format(",
    "'{0:9999}'",
    "'%(a)s'",
    "[:999999999]",
    "[-9223372036854775808:]",
    " is defined",
    " is mapping",
    " is iterable",
    " not in ",
    " ~ ",
    " * ",
    " ** ",
    " // ",
    " % ",
    "'x' * 1000000",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "true",
    "none",
    "tools",
    "bos_token",
    "add_generation_prompt",
    "<|im_start|>",
    "<|im_end|>",
    "<|foreign|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "{\"name\": \"f\"}",
];

/// A control token that no template writes by itself.
const FOREIGN: &str = "<|foreign|>";

/// Ends the source, and each message's text; no byte of UTF-8.
const SEPARATOR: u8 = 0xFF;

/// Time for one render. The product's own limit is 250 ms; test machines are busy.
const TIME: Duration = Duration::from_millis(500);

/// The input is the source and the contents of messages, each ended by a byte 0xFF. A content that
/// is a JSON object is a whole message, an array is a message of parts.
pub fn template(data: &[u8]) -> Outcome {
    let mut parts = data.split(|&byte| byte == SEPARATOR);
    let source = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let contents: Vec<String> =
        parts.take(8).map(|part| String::from_utf8_lossy(part).into_owned()).collect();
    let limits = limits();
    let template = match Template::with_limits(&source, SpecialTokens::new("<s>", "</s>"), &limits)
    {
        Ok(template) => template,
        Err(error) => return Outcome::error(&error),
    };
    let request = request(&contents);
    let control = ControlTexts::new(["<|im_start|>", "<|im_end|>", "<s>", "</s>", FOREIGN]);
    let rendered = template.render(&request, &limits, &control);
    let plain = template.render(&request, &limits, &ControlTexts::default());
    let prompt = match (&rendered, &plain) {
        (Ok(rendered), Ok(plain)) => {
            assert_eq!(rendered.text(), plain.text(), "marks left a trace");
            rendered.text()
        }
        _ => String::new(),
    };
    let format = ReplyFormat::detect(&source, &prompt);
    contents.iter().chain([&source]).for_each(|reply| read_reply(reply, &format));
    match rendered {
        Ok(rendered) => {
            let mut pieces = rendered.pieces.iter();
            let forged = pieces.any(|piece| piece.trusted && piece.text.contains(FOREIGN));
            assert!(!forged || spells_foreign(&source), "a user's text became a control token");
            Outcome::sizes(&[rendered.pieces.len(), prompt.len()])
        }
        // What the engine says before it quotes the template.
        Err(Error::Render { message, .. }) => Outcome::words(message.split(':').next()),
        Err(error) => Outcome::error(&error),
    }
}

/// Whether a template may write the foreign token out of its own letters.
fn spells_foreign(source: &str) -> bool {
    ["foreign", "FOREIGN", "oreig"].iter().any(|word| source.contains(word))
}

fn limits() -> Limits {
    let start = Instant::now();
    let limits = Limits { fuel: 100_000, output_bytes: 1 << 20, ..Limits::default() };
    limits.with_deadline(move || start.elapsed() > TIME)
}

fn request(contents: &[String]) -> Request {
    let messages = contents.iter().enumerate().map(|(at, content)| {
        let role = ["system", "user", "assistant", "tool", "stranger"][at % 5];
        match serde_json::from_str(content) {
            Ok(Value::Object(fields)) => Message::from_fields(fields),
            Ok(parts @ Value::Array(_)) => Message::new(role, "").with("content", parts),
            Ok(_) | Err(_) => Message::new(role, content),
        }
    });
    Request {
        messages: messages.collect(),
        tools: contents.first().map(|text| vec![serde_json::json!({"name": "f", "about": text})]),
        add_generation_prompt: contents.len() % 2 == 1,
        now: Now { unix_seconds: 1_700_000_000, utc_offset_seconds: -5400 },
        ..Request::default()
    }
}

/// A reply gives the same however it is cut.
fn read_reply(reply: &str, format: &ReplyFormat) {
    let mut whole = ReplyParser::new(format.clone());
    let mut cut = ReplyParser::new(format.clone());
    let mut at_once = whole.push(reply);
    at_once.extend(whole.finish());
    let mut one_by_one = Vec::new();
    for character in reply.chars() {
        one_by_one.extend(cut.push(character.encode_utf8(&mut [0; 4])));
    }
    one_by_one.extend(cut.finish());
    assert_eq!(joined(at_once), joined(one_by_one), "{reply:?} in {format:?}");
}

/// Neighbouring texts of one kind as one.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut found: Vec<Event> = Vec::new();
    for event in events {
        match (found.last_mut(), &event) {
            (Some(Event::Content(text)), Event::Content(more)) => text.push_str(more),
            (Some(Event::Reasoning(text)), Event::Reasoning(more)) => text.push_str(more),
            _ => found.push(event),
        }
    }
    found
}
