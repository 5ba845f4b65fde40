//! Renders equal to Jinja2's, byte for byte, on every template of the corpus.

use std::collections::BTreeMap;

use minfer_chat::{ControlTexts, Error, Limits, Message, Request, SpecialTokens, Template};
use serde::Deserialize;

use crate::{corpus, sha256};

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expected {
    Text { bytes: usize, sha256: String },
    Error { error: String },
}

type Renders = BTreeMap<String, BTreeMap<String, Expected>>;

fn renders() -> Renders {
    serde_json::from_str(include_str!("../data/renders.json")).expect("valid renders")
}

#[test]
fn every_template_renders_as_jinja2_does() {
    let cases = corpus::cases();
    let renders = renders();
    assert_eq!(renders.len(), 72, "70 templates of llama.cpp, Gemma 3's and SmolLM2's");
    let mut problems = Vec::new();
    for (name, row) in &renders {
        let template = corpus::template(name);
        assert_eq!(row.len(), cases.len(), "{name}: run golden.py again");
        for case in &cases {
            let control = ControlTexts::default();
            let ours = template.render(&case.request(), &Limits::default(), &control);
            let ours = ours.map(|rendered| rendered.text());
            if let Some(problem) = difference(&row[&case.name], &ours) {
                let lines = first_difference(name, &case.name, &ours.unwrap_or_default());
                problems.push(format!("{name}, {}: {problem}{lines}", case.name));
            }
        }
    }
    assert!(problems.is_empty(), "{} differ:\n{}", problems.len(), problems.join("\n"));
}

/// The first line that differs, if golden.py has left the whole render here.
fn first_difference(template: &str, case: &str, ours: &str) -> String {
    let path = corpus::store().join("renders").join(template).join(format!("{case}.txt"));
    let Ok(theirs) = std::fs::read_to_string(path) else { return String::new() };
    let lines = theirs.lines().zip(ours.lines()).enumerate();
    match lines.into_iter().find(|(_, (theirs, ours))| theirs != ours) {
        Some((at, (theirs, ours))) => format!("\n  line {at}\n  - {theirs}\n  + {ours}"),
        None => "; one is the beginning of the other".into(),
    }
}

/// What Jinja2 refuses and this engine takes: a loop over `none` runs no times, and what the
/// `items` filter gives is a list. No template that Jinja2 renders depends on either.
const LENIENT: [&str; 2] =
    ["'NoneType' object is not iterable", "Object of type generator is not JSON serializable"];

fn difference(expected: &Expected, ours: &Result<String, Error>) -> Option<String> {
    match (expected, ours) {
        (Expected::Text { bytes, sha256 }, Ok(text)) => (text.len() != *bytes
            || sha256::hex(text.as_bytes()) != *sha256)
            .then(|| format!("{} bytes for {bytes}", text.len())),
        (Expected::Text { .. }, Err(error)) => Some(error.to_string()),
        (Expected::Error { error }, Ok(_)) if LENIENT.contains(&error.as_str()) => None,
        (Expected::Error { error }, Ok(_)) => Some(format!("renders, where Jinja2 fails: {error}")),
        (Expected::Error { error }, Err(Error::Raised { message })) if message != error => {
            Some(format!("raises {message:?}, not {error:?}"))
        }
        (Expected::Error { .. }, Err(_)) => None,
    }
}

#[derive(Debug, Deserialize)]
struct Prompt {
    model: String,
    bos: String,
    adds_bos: bool,
    eos: String,
    messages: Vec<Message>,
    rendered: String,
}

/// Prompts that llama.cpp rendered for two real models.
#[test]
fn prompts_of_reference_models() {
    let prompts: Vec<Prompt> =
        serde_json::from_str(include_str!("../data/prompts.json")).expect("valid prompts");
    assert!(prompts.len() >= 4);
    for prompt in prompts {
        let source = corpus::source(&prompt.model);
        let tokens = SpecialTokens::new(&prompt.bos, &prompt.eos);
        let template = Template::new(&source, tokens).expect("the template parses");
        let request = Request {
            messages: prompt.messages,
            add_generation_prompt: true,
            ..Request::default()
        };
        let control = ControlTexts::new(["<|im_start|>", "<|im_end|>", "<start_of_turn>"]);
        let rendered = template.render(&request, &Limits::default(), &control);
        let text = rendered.expect("the template renders").text();
        // Where the tokenizer adds BOS, llama.cpp drops the template's.
        let bos = if prompt.adds_bos { prompt.bos.as_str() } else { "" };
        assert_eq!(text.strip_prefix(bos), Some(prompt.rendered.as_str()));
    }
}

#[test]
fn chatml_where_a_file_has_no_template() {
    let request = Request {
        messages: vec![Message::new("user", "Hi"), Message::new("assistant", "Hello")],
        add_generation_prompt: true,
        ..Request::default()
    };
    let rendered = Template::chatml()
        .render(&request, &Limits::default(), &ControlTexts::default())
        .expect("ChatML renders");
    let expected = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n\
                    <|im_start|>assistant\n";
    assert_eq!(rendered.text(), expected);
}
