use proptest::prelude::*;
use serde_json::json;

use super::*;

fn format(tools: ToolFormat) -> ReplyFormat {
    let reasoning = Some(("<think>".to_owned(), "</think>".to_owned()));
    ReplyFormat { reasoning, starts_in_reasoning: false, tools }
}

fn call(name: &str, arguments: Value) -> ToolCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    ToolCall { name: name.into(), arguments, id: None }
}

#[test]
fn hermes_with_reasoning() {
    let text = "<think>\nLet me see.\n</think>\n\nI look.\n<tool_call>\n{\"name\": \"f\", \
                \"arguments\": {\"x\": 1}}\n</tool_call>\n<tool_call>{\"name\":\"g\"}</tool_call>";
    let reply = Reply::parse(text, format(ToolFormat::Hermes));
    assert_eq!(reply.reasoning.as_deref(), Some("Let me see."));
    assert_eq!(reply.content, "I look.");
    assert_eq!(reply.tool_calls, [call("f", json!({"x": 1})), call("g", json!({}))]);
}

#[test]
fn reasoning_that_the_prompt_opened() {
    let format = ReplyFormat { starts_in_reasoning: true, ..format(ToolFormat::None) };
    let reply = Reply::parse("\nhm\n</think>\n42", format.clone());
    assert_eq!((reply.reasoning.as_deref(), reply.content.as_str()), (Some("hm"), "42"));
    let unfinished = Reply::parse("still <b> thinking", format);
    assert_eq!(unfinished.reasoning.as_deref(), Some("still <b> thinking"));
}

#[test]
fn llama3_calls_are_the_whole_reply() {
    let text = "<|python_tag|>{\"name\": \"f\", \"parameters\": {\"x\": [1]}}";
    for text in [text, &text["<|python_tag|>".len()..]] {
        let reply = Reply::parse(text, format(ToolFormat::Llama3));
        assert_eq!(reply.tool_calls, [call("f", json!({"x": [1]}))]);
        assert_eq!(reply.content, "");
    }
    for text in ["{\"not\": \"a call\"}", "{ is a brace", "Use {\"name\": \"f\"}"] {
        let reply = Reply::parse(text, format(ToolFormat::Llama3));
        assert_eq!((reply.content.as_str(), reply.tool_calls.len()), (text, 0));
    }
}

#[test]
fn mistral_calls_are_a_list() {
    let text = "Sure. [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}, \"id\": \"123456789\"}]";
    let reply = Reply::parse(text, format(ToolFormat::Mistral));
    assert_eq!(reply.content, "Sure.");
    assert_eq!(reply.tool_calls[0].id.as_deref(), Some("123456789"));
}

#[test]
fn what_is_no_call_stays_as_it_was() {
    for text in [
        "<tool_call>not json</tool_call> after",
        "before\n<tool_call>not json</tool_call>\nafter",
        "<tool_call>{\"name\": 1}</tool_call>",
        "<tool_call>{\"name\": \"f\"",
        "a < b and <tool",
        "no tags at all\n",
    ] {
        let reply = Reply::parse(text, format(ToolFormat::Hermes));
        assert_eq!(reply.content, text);
        assert!(reply.tool_calls.is_empty() && reply.reasoning.is_none());
    }
}

#[test]
fn nothing_that_may_become_a_tag_is_emitted() {
    let mut parser = ReplyParser::new(format(ToolFormat::Hermes));
    assert_eq!(parser.push("Hi \n<to"), [Event::Content("Hi".into())]);
    assert_eq!(parser.push("ast>"), [Event::Content(" \n<toast>".into())]);
    assert_eq!(parser.push(" <think"), []);
    assert_eq!(parser.push(">so "), [Event::Reasoning("so".into())]);
    assert_eq!(parser.finish(), [Event::Reasoning(" ".into())]);
}

#[test]
fn formats_of_templates() {
    let detect = |source: &str, prompt: &str| ReplyFormat::detect(source, prompt);
    assert_eq!(detect("x", "<think>"), ReplyFormat::default());
    let qwen = detect("</think> <tool_call>", "…<think>\n");
    assert!(qwen.starts_in_reasoning && qwen.tools == ToolFormat::Hermes);
    assert_eq!(detect("[TOOL_CALLS]", "").tools, ToolFormat::Mistral);
    assert_eq!(detect("<|python_tag|>", "").tools, ToolFormat::Llama3);
}

fn reply_text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "{\"name\": \"f\", \"arguments\": {}}",
        "[TOOL_CALLS]",
        "<|python_tag|>",
        " ",
        "\n",
        "é<",
        "word",
    ]);
    prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn the_cut_of_a_stream_changes_nothing(
        text in reply_text(),
        step in 1..6_usize,
        tools in prop::sample::select(vec![
            ToolFormat::None, ToolFormat::Hermes, ToolFormat::Llama3, ToolFormat::Mistral,
        ]),
    ) {
        let mut parser = ReplyParser::new(format(tools));
        let mut streamed = Reply::default();
        let chars: Vec<char> = text.chars().collect();
        let mut events: Vec<Event> = chars
            .chunks(step)
            .flat_map(|chunk| parser.push(&chunk.iter().collect::<String>()))
            .collect();
        events.extend(parser.finish());
        for event in events {
            match event {
                Event::Content(text) => streamed.content += &text,
                Event::Reasoning(text) => *streamed.reasoning.get_or_insert_default() += &text,
                Event::ToolCall(call) => streamed.tool_calls.push(call),
            }
        }
        prop_assert_eq!(streamed, Reply::parse(&text, format(tools)));
    }
}
