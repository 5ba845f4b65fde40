//! Hostile messages against every template of the corpus: nothing of a user's becomes a control
//! token, and nothing else changes.

use std::cell::Cell;
use std::collections::BTreeSet;

use minfer_chat::{ControlTexts, Limits, Message, Rendered, Request, Template};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use crate::corpus;

/// A control text that no template writes: wherever it appears in a trusted piece, a user wrote it.
const FOREIGN: &str = "<|foreign|>";

/// Texts that look like control tokens in a template's source.
fn controls(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([FOREIGN.to_owned(), "<|bos|>".into(), "<|eos|>".into()]);
    for (open, close) in [('<', '>'), ('[', ']')] {
        for (at, _) in source.match_indices(open) {
            let Some(length) = source[at..].find(close) else { continue };
            let text = &source[at..at + length + 1];
            let word = |c: char| c.is_alphanumeric() || "|_/-｜▁".contains(c);
            let inner = &text[1..text.len() - 1];
            let plain = open == '[' && inner.chars().any(|c| !c.is_uppercase() && c != '_');
            if inner.len() > 1 && inner.len() < 40 && inner.chars().all(word) && !plain {
                found.insert(text.to_owned());
            }
        }
    }
    found
}

fn names() -> Vec<String> {
    let folder = corpus::store().join("templates");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap_or_else(|_| {
            panic!("{} is missing: run `crates/chat/tests/golden.py --fetch`", folder.display())
        })
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

struct Subject {
    name: String,
    template: Template,
    texts: Vec<String>,
    control: ControlTexts,
}

fn subjects() -> Vec<Subject> {
    names()
        .into_iter()
        .map(|name| {
            let texts: Vec<String> = controls(&corpus::source(&name)).into_iter().collect();
            let control = ControlTexts::new(&texts);
            Subject { template: corpus::template(&name), name, texts, control }
        })
        .collect()
}

/// Parts of a hostile text: control texts, their beginnings and endings, white space, words.
fn hostile() -> impl Strategy<Value = Vec<(u8, u16, u16)>> {
    prop::collection::vec((0..8_u8, any::<u16>(), any::<u16>()), 1..7)
}

fn spell(parts: &[(u8, u16, u16)], texts: &[String]) -> String {
    let pick = |which: u16| texts[usize::from(which) % texts.len()].as_str();
    let cut = |text: &str, at: u16| text.floor_char_boundary(usize::from(at) % (text.len() + 1));
    parts
        .iter()
        .map(|&(kind, which, at)| {
            let text = pick(which);
            match kind {
                0 | 1 => text.to_owned(),
                2 => text[..cut(text, at)].to_owned(),
                3 => text[cut(text, at)..].to_owned(),
                4 => FOREIGN.to_owned(),
                5 => " \n".to_owned(),
                6 => "\u{e000}é\u{f8ff}".to_owned(),
                _ => "word".to_owned(),
            }
        })
        .collect()
}

fn conversation(text: &[String; 4]) -> Request {
    let call = json!([{"id": "call12345", "type": "function",
        "function": {"name": "get", "arguments": {"city": text[3], "n": 2}}}]);
    Request {
        messages: vec![
            Message::new("system", &text[0]),
            Message::new("user", &text[1]),
            Message::new("assistant", &text[2]).with("tool_calls", call),
            Message::new("tool", &text[3]).with("name", "get").with("tool_call_id", "call12345"),
            Message::new("assistant", &text[2]),
            Message::new("user", &text[0]),
        ],
        tools: Some(vec![json!({"type": "function", "function": {
            "name": "get", "description": text[1],
            "parameters": {"type": "object", "properties": {
                "city": {"type": "string", "description": text[2]}}}}})]),
        add_generation_prompt: true,
        now: corpus::NOW,
        ..Request::default()
    }
}

fn count(rendered: &Rendered, text: &str) -> usize {
    let trusted = rendered.pieces.iter().filter(|piece| piece.trusted);
    trusted.map(|piece| piece.text.matches(text).count()).sum()
}

#[test]
fn hostile_contents_stay_text() {
    let subjects = subjects();
    assert!(subjects.len() >= 72);
    let limits = Limits::default();
    let (rendered, cut) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(ProptestConfig { cases: 12, ..ProptestConfig::default() });
    let strategy = [hostile(), hostile(), hostile(), hostile()];
    let result = runner.run(&strategy, |parts| {
        for subject in &subjects {
            let text = parts.each_ref().map(|parts| spell(parts, &subject.texts));
            let request = conversation(&text);
            let plain = subject.template.render(&request, &limits, &ControlTexts::default());
            let guarded = subject.template.render(&request, &limits, &subject.control);
            let (plain, guarded) = match (plain, guarded) {
                (Ok(plain), Ok(guarded)) => (plain, guarded),
                (Err(plain), Err(guarded)) => {
                    prop_assert_eq!(plain, guarded, "{}", &subject.name);
                    continue;
                }
                (plain, guarded) => {
                    return Err(TestCaseError::fail(format!(
                        "{}: {plain:?} against {guarded:?}",
                        subject.name
                    )));
                }
            };
            prop_assert_eq!(plain.text(), guarded.text(), "{}", &subject.name);
            prop_assert_eq!(count(&guarded, FOREIGN), 0, "{}: {:?}", &subject.name, text);
            rendered.set(rendered.get() + 1);
            cut.set(cut.get() + usize::from(guarded.pieces.iter().any(|piece| !piece.trusted)));
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    // Most templates take the conversation, and most conversations hold something to set apart.
    assert!(rendered.get() > 400 && cut.get() > 200, "{} and {}", rendered.get(), cut.get());
}

/// One user message, as a template sees it most often.
fn user(text: String) -> Request {
    Request {
        messages: vec![Message::new("user", text)],
        add_generation_prompt: true,
        now: corpus::NOW,
        ..Request::default()
    }
}

#[test]
fn a_control_text_in_a_message_changes_no_token_of_the_template() {
    let limits = Limits::default();
    let mut compared = 0;
    for subject in subjects() {
        let render = |text: String| {
            let rendered = subject.template.render(&user(text), &limits, &subject.control);
            rendered.ok()
        };
        for text in &subject.texts {
            let Some(calm) = render("before word after".into()) else { continue };
            let hostile = render(format!("before {text} after")).expect("renders as the calm one");
            for token in &subject.texts {
                let (calm, hostile) = (count(&calm, token), count(&hostile, token));
                assert_eq!(calm, hostile, "{}: {token} beside {text}", subject.name);
            }
            let apart: Vec<_> = hostile.pieces.iter().filter(|piece| !piece.trusted).collect();
            assert!(apart.iter().all(|piece| piece.text == *text), "{}: {apart:?}", subject.name);
            compared += apart.len();
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn control_texts_made_of_several_strings_are_cut() {
    let source = "{% for m in messages %}{{ m.name }}{{ m.content | trim }}|>\
                  {{ '<|' + m.content.split(' ')[1] + '|>' }}<|end|>{% endfor %}";
    let template = Template::new(source, corpus::tokens()).expect("the template parses");
    let control = ControlTexts::new(["<|end|>", "<|foreign|>"]);
    let message = Message::new("user", "eign foreign <|end \n").with("name", "<|for");
    let request = Request { messages: vec![message], ..Request::default() };
    let rendered = template.render(&request, &Limits::default(), &control).expect("renders");
    assert_eq!(rendered.text(), "<|foreign foreign <|end|><|foreign|><|end|>");
    let apart: Vec<&str> =
        rendered.pieces.iter().filter(|p| !p.trusted).map(|p| p.text.as_str()).collect();
    assert_eq!(apart, ["<|end", "foreign"]);
}
