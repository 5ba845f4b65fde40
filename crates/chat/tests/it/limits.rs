//! Templates and messages that try to cost too much, and what stops them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use minfer_chat::{ControlTexts, Error, Limits, Message, Request, SpecialTokens, Template};
use serde_json::{Value, json};

fn render_with(source: &str, request: &Request, limits: &Limits) -> Result<String, Error> {
    let template = Template::new(source, SpecialTokens::default())?;
    let control = ControlTexts::new(["<|end|>"]);
    template.render(request, limits, &control).map(|rendered| rendered.text())
}

fn render(source: &str) -> Result<String, Error> {
    let messages = vec![Message::new("user", "Hi")];
    render_with(source, &Request { messages, ..Request::default() }, &Limits::default())
}

#[test]
fn a_source_that_is_too_long() {
    let (bytes, limit) = ((1 << 20) + 1, 1 << 20);
    assert_eq!(render(&" ".repeat(bytes)), Err(Error::SourceTooLong { bytes, limit }));
}

#[test]
fn syntax_errors_name_the_line() {
    let Err(Error::Syntax { line, message }) = render("one\n{% if %}") else { panic!("parses") };
    assert_eq!(line, 2);
    assert!(!message.is_empty());
    assert!(matches!(render("{% include 'x' %}"), Err(Error::Render { .. })));
    let nested = format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000));
    let error = render(&format!("\n{nested}"));
    assert_eq!(error, Err(Error::SyntaxTooDeep { line: 2, found: 251, limit: 250 }));
}

#[test]
fn loops_run_out_of_fuel() {
    let loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a * b %}\
                 {% endfor %}{% endfor %}";
    assert_eq!(render(loops), Err(Error::OutOfFuel { fuel: 1_003_400 }));
    for grows in [
        "{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s %}\
         {% endfor %}",
        "{% set ns = namespace(s='x' * 1000) %}{% for i in range(64) %}\
         {% set ns.s = ns.s.replace('x', ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='x' * 1000) %}{% for i in range(64) %}\
         {% set ns.s = ns.s.join(ns.s | list) %}{% endfor %}",
        "{{ [3] * 10 ** 8 }}",
        "{{ ([3] * 10 ** 8) | tojson }}",
        "{{ ([3] * 10 ** 8) | string | length }}",
        "{{ ([3] * 10 ** 8) | upper }}",
        "{{ ([3] * 10 ** 8).count(3) }}",
        "{{ ([3] * 10 ** 8).index(4) }}",
        "{{ 'x'.startswith(['y'] * 10 ** 8) }}",
        "{{ raise_exception([3] * 10 ** 8) }}",
        "{{ strftime_now('%c' * 10 ** 7) | length }}",
    ] {
        let result = render(grows);
        assert!(matches!(result, Err(Error::OutOfFuel { .. })), "{grows}: {result:?}");
    }
}

#[test]
fn a_megabyte_of_hostile_text() {
    let control = ControlTexts::new((0..6_000).map(|i| format!("<|unused{i}|>")));
    let text = "<|unused12".repeat(100_000) + "<|unused7|>";
    for source in ["{{ messages[0].content }}", "{{ messages[0].content[:] }}<|unused1|>"] {
        let template = Template::new(source, SpecialTokens::default()).expect("parses");
        let messages = vec![Message::new("user", &text)];
        let request = Request { messages, ..Request::default() };
        let start = Instant::now();
        let rendered = template.render(&request, &Limits::default(), &control).expect("renders");
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
        assert_eq!(rendered.pieces[1].text, "<|unused7|>");
        assert!(!rendered.pieces[1].trusted);
    }
}

#[test]
fn recursion_and_deep_values_stop() {
    let recursive = "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}";
    assert_eq!(render(recursive), Err(Error::TooDeep { limit: 100 }));
    let deep = (0..101).fold(json!("x"), |inner, _| json!([inner]));
    let messages = vec![Message::new("user", "Hi").with("extra", deep)];
    let request = Request { messages, ..Request::default() };
    let error = render_with("{{ messages }}", &request, &Limits::default());
    assert_eq!(error, Err(Error::TooDeep { limit: 100 }));
}

#[test]
fn output_that_is_too_long() {
    let source = "{% for i in range(9999) %}{{ 'x' * 1000 }}{% endfor %}";
    assert_eq!(render(source), Err(Error::OutputTooLong { limit: 4 << 20 }));
}

/// What is done again and again, with a list `x`, a text `s` and a number `i`.
const STEPS: &[&str] = &[
    "x",
    "{% for j in range(10) %}{% endfor %}",
    "{% set y = 'a'.upper() %}",
    "{% set y = x.count(1) %}",
    "{% set y = x[1:] %}",
    "{% set y = x + x %}",
    "{% set y = x * 2 %}",
    "{% set y = [i, x] %}",
    "{% if x < x %}{% endif %}",
    "{% if i in x %}{% endif %}",
    "{% set y = x ~ i %}",
    "{% set y = x|sort %}",
    "{% set y = x|tojson %}",
    "{% set y = x|string %}",
    "{% set y = s|trim %}",
    "{% set y = s|safe + s %}",
    "{% if x is eq x %}{% endif %}",
    "{% if i is in x %}{% endif %}",
    "{% set y = namespace(a=x) %}",
    "{% set y = dict(a=x) %}",
    "{% set y = strftime_now('%Y') %}",
];

/// One step each that walks for long.
const WALKS: &[&str] = &[
    "{% if x == x[:] %}{% endif %}",
    "{% set y = [x] %}",
    "{% set y = x ~ '' %}",
    "{{ x }}",
    "{% set y = x|tojson %}",
    "{% set y = x|list %}",
    "{% set y = x|groupby('a') %}",
    "{% set y = x|sum(start=[]) %}",
    "{% if x is eq(x) %}{% endif %}",
    "{% if 1 is in x %}{% endif %}",
    "{% set y = x.index(1) %}",
];

#[test]
fn the_deadline_stops_all_that_is_paid_for_by_size() {
    let steps = STEPS.iter().map(|step| {
        format!("{{% set x, s = [1, 2], 'a' %}}{{% for i in range(100000) %}}{step}{{% endfor %}}")
    });
    let walks = WALKS.iter().map(|walk| format!("{{% set x = [[1] * 99] * 9999 %}}{walk}"));
    for source in steps.chain(walks) {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let limits =
            Limits::default().with_deadline(move || count.fetch_add(1, Ordering::Relaxed) >= 20);
        let error = render_with(&source, &Request::default(), &limits);
        assert_eq!(error, Err(Error::Expired), "{source}");
        assert!(asked.load(Ordering::Relaxed) < 30, "{source}");
    }
}

#[test]
fn a_tiny_deadline_is_heeded_however_much_fuel_there_is() {
    let steps = STEPS.iter().map(|step| {
        format!(
            "{{% set x, s, many = [1, 2], 'a', range(100000) %}}\
             {{% for i in many %}}{{% for j in many %}}{step}{{% endfor %}}{{% endfor %}}"
        )
    });
    let walks = WALKS.iter().map(|walk| format!("{{% set x = [[1] * 9999] * 99999 %}}{walk}"));
    for source in steps.chain(walks) {
        let start = Instant::now();
        let limits = Limits { fuel: 1 << 30, fuel_max: 1 << 30, ..Limits::default() }
            .with_deadline(move || start.elapsed() > Duration::from_millis(10));
        let error = render_with(&source, &Request::default(), &limits);
        let time = start.elapsed();
        assert_eq!(error, Err(Error::Expired), "{source}");
        assert!(time < Duration::from_secs(3), "{time:?} for {source}");
    }
}

#[test]
fn arguments_may_not_replace_what_a_template_is_given() {
    let mut request = Request::default();
    request.arguments.insert("messages".into(), Value::Null);
    let error = render_with("", &request, &Limits::default());
    assert_eq!(error, Err(Error::ReservedArgument { name: "messages".into() }));
}

#[test]
fn malformed_messages() {
    let check = |message: Value, expected: &str| {
        let message: Message = serde_json::from_value(message).expect("an object");
        let request = Request { messages: vec![message], ..Request::default() };
        let error = render_with("", &request, &Limits::default()).expect_err("malformed");
        assert_eq!(error.to_string(), expected);
    };
    check(json!({"content": "x"}), "message 0: expected a text `role`, found nothing");
    check(json!({"role": 1}), "message 0: expected a text `role`, found a number");
    check(
        json!({"role": "user", "content": {}}),
        "message 0: expected `content` as text, a list of parts, or null, found an object",
    );
}

#[test]
fn a_template_raises() {
    let error = render("{{ raise_exception('only ' ~ messages[0].content) }}");
    assert_eq!(error, Err(Error::Raised { message: "only Hi".into() }));
}

#[test]
fn every_private_use_character_in_use() {
    let all = ('\u{e000}'..='\u{f8ff}')
        .chain('\u{f0000}'..='\u{ffffd}')
        .chain('\u{100000}'..='\u{10fffd}');
    let messages = vec![Message::new("user", all.collect::<String>())];
    let request = Request { messages, ..Request::default() };
    let error = render_with("{{ messages[0].content }}", &request, &Limits::default());
    assert_eq!(error, Err(Error::NoFreeCharacters));
}

#[test]
fn text_that_cannot_be_told_apart_is_refused() {
    let source = "{{ messages[0].content[1:] }}<|end|>";
    let control = ControlTexts::new(["<|end|>"]);
    let template = Template::new(source, SpecialTokens::default()).expect("the template parses");
    let render = |text: &str| {
        let messages = vec![Message::new("user", text)];
        let request = Request { messages, ..Request::default() };
        template.render(&request, &Limits::default(), &control)
    };
    assert_eq!(render("<<|end|>"), Err(Error::Ambiguous));
    let calm = render("no control text").expect("renders");
    assert_eq!(calm.text(), "o control text<|end|>");
}
