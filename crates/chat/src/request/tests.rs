use serde_json::json;

use super::*;

fn message(value: Value) -> Message {
    serde_json::from_value(value).expect("an object")
}

#[test]
fn fields_are_kept_in_order() {
    let value = json!({"role": "user", "zeta": null, "content": "x", "alpha": [1]});
    let message = message(value.clone());
    assert_eq!(serde_json::to_string(&message).unwrap(), value.to_string());
    assert_eq!((message.role(), message.text().as_deref()), ("user", Some("x")));
}

#[test]
fn text_parts_are_joined() {
    let parts = json!([{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]);
    let mut message = Message::new("user", "").with("content", parts);
    assert_eq!(message.text().as_deref(), Some("ab"));
    message.join_parts();
    assert_eq!(message.fields()["content"], "ab");
    let mut null = Message::new("user", "").with("content", Value::Null);
    null.join_parts();
    assert_eq!(null.text(), None);
    assert!(null.fields()["content"].is_null());
}

#[test]
fn arguments_in_text_become_objects() {
    let call = |arguments: Value| json!([{"function": {"name": "f", "arguments": arguments}}]);
    for (given, expected) in [
        (json!("{\"b\": 1, \"a\": 2}"), json!({"b": 1, "a": 2})),
        (json!("not json"), json!("not json")),
        (json!("[1]"), json!("[1]")),
        (json!({"x": 1}), json!({"x": 1})),
    ] {
        let mut message = Message::new("assistant", "").with("tool_calls", call(given));
        message.parse_arguments();
        assert_eq!(message.fields()["tool_calls"], call(expected));
    }
}
