//! Inputs to start from: small whole things of every kind, from which changes lead to odd ones.
//! `minfer-fuzz seeds` writes them to `fuzz/corpus`.

use minfer_gguf::{File, Value, Writer};
use minfer_models::arch::ARCHITECTURES;
use minfer_models::{Blueprint, TensorShape};
use minfer_quant::Quant;

use crate::open_and_plan::BLUEPRINT;

/// A named input.
type Seed = (String, Vec<u8>);

fn named(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Seed {
    (name.into(), bytes.into())
}

/// Files without tensors, with values of all types, with tensors of all formats, and a split set.
pub fn gguf() -> Vec<Seed> {
    let typed = Writer::new()
        .kv("a.u8", Value::U8(1))
        .kv("a.i8", Value::I8(-1))
        .kv("a.u16", Value::U16(2))
        .kv("a.i16", Value::I16(-2))
        .kv("a.u32", 3u32)
        .kv("a.i32", Value::I32(-3))
        .kv("a.f32", 0.5f32)
        .kv("a.bool", true)
        .kv("a.string", "text")
        .kv("a.u64", 4u64)
        .kv("a.i64", Value::I64(-4))
        .kv("a.f64", Value::F64(0.25))
        .kv("b.strings", vec!["one".to_owned(), "two".to_owned(), String::new()])
        .kv("b.f32s", vec![1.0f32, 2.0])
        .kv("b.i32s", vec![1i32, -1, 3]);
    let mut formats = Writer::new().alignment(64);
    let mut members = Writer::new().kv("general.architecture", "llama");
    for quant in Quant::ALL {
        let dims = vec![quant.block_len() as u64, 2];
        formats = formats.tensor(quant.name(), *quant, dims, vec![0u8; 2 * quant.block_bytes()]);
    }
    for name in ["one", "two"] {
        members = members.tensor(name, Quant::F32, vec![4, 1, 2], vec![1u8; 32]);
    }
    let parts = members.to_split_bytes(32).expect("the parts are sound");
    let mut set = parts.concat();
    set.extend((parts[0].len() as u16).to_le_bytes());
    let whole = |writer: Writer<'_>| writer.to_bytes().expect("the file is sound");
    vec![
        named("nothing", whole(Writer::new())),
        named("version_2", whole(Writer::new().version(2).kv("a", "b"))),
        named("values", whole(typed)),
        named("formats", whole(formats)),
        named("split_set", set),
    ]
}

/// Vocabularies of each model and rule with a few tokens and merges, and a text.
pub fn tokenizer() -> Vec<Seed> {
    let text = "Hello  world's 1234\n\n\t漢字 é🙂 <|im_end|> it's";
    let tokens = [("l", 0), ("ll", 0), ("He", 0), ("Hell", 0), ("Ġ", 0), ("▁w", 0), ("<tool>", 3)];
    let mut seeds = Vec::new();
    // The byte: a model, and the flags of special tokens, bytes, space prefix and named ids.
    for (name, flags) in [
        ("llama", 0b0001_1000),
        ("llama_poor", 0b1000_0100),
        ("gpt2", 0b0000_1001),
        ("gpt2_parse", 0b0110_1101),
        ("gemma4", 0b0000_1010),
        ("unknown", 0b0000_1011),
    ] {
        for rule in 0..if name == "gpt2" { 11u8 } else { 1 } {
            let mut bytes = vec![flags, rule, tokens.len() as u8];
            for (place, (token, kind)) in tokens.iter().enumerate() {
                bytes.push(kind << 5 | token.len() as u8);
                bytes.extend(token.bytes());
                bytes.push(place as u8);
            }
            bytes.push(3);
            // Places count from the first token; the bytes' own come first where there are any.
            for (left, right) in [(256u32, 256u32), (72, 101), (258, 257)] {
                bytes.extend(left.to_le_bytes());
                bytes.extend(right.to_le_bytes());
            }
            if flags >> 7 == 1 {
                bytes.extend([0, 1, 2, 3]);
            }
            bytes.extend(text.bytes());
            seeds.push(named(format!("{name}_{rule}"), bytes));
        }
    }
    seeds
}

/// Templates with a conversation each.
pub fn template() -> Vec<Seed> {
    let call = r#"{"role": "assistant", "content": null, "tool_calls": [{"type": "function",
        "function": {"name": "f", "arguments": {"a": [1, 2.5, "x"]}}}]}"#;
    let conversation = [
        "Be <|foreign|> brief.",
        "Hi <|im_end|>\n",
        "<think>so</think> Yes <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>",
        r#"[{"type": "text", "text": "part"}]"#,
        call,
    ];
    let sources = [
        (
            "turns",
            "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + \
            message['content'] | trim + '<|im_end|>\\n' }}{% endfor %}{% if \
            add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>' }}{% endif %}</think>",
        ),
        (
            "system",
            "{%- if messages[0].role == 'system' -%}{% set s = messages[0]['content'] %}\
            {% set rest = messages[1:] %}{%- else -%}{% set rest = messages %}{%- endif -%}\
            {{ bos_token }}{{ s }}{% for m in rest %}{% if (m.role == 'user') != (loop.index0 % 2 \
            == 0) %}{{ raise_exception('turns must alternate') }}{% endif %}[INST] {{ m.content }} \
            [/INST]{% endfor %}[TOOL_CALLS]",
        ),
        (
            "tools",
            "{% macro show(v, deep=0) %}{% if v is mapping %}{% for k, w in v | items %}\
            {{ k ~ ': ' }}{{ show(w, deep + 1) }}{% endfor %}{% elif v is iterable and v is not \
            string %}{{ v | join(', ') }}{% else %}{{ v | tojson(indent=2) }}{% endif %}\
            {% endmacro %}<tool_call>{{ show(tools) }}{% for m in messages %}{% for c in \
            m.tool_calls or [] %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}",
        ),
        (
            "namespace",
            "{% set ns = namespace(n=0, s='') %}{% for m in messages | reverse %}\
            {% set ns.n = ns.n + (m.content or '') | length %}{% set ns.s = ns.s ~ m.role[:2] %}\
            {% if ns.n > 30 %}{% break %}{% endif %}{% endfor %}{{ ns.s.upper() }} {{ ns.n // 7 }}\
            {{ strftime_now('%d %B %Y %j %c') }}<|python_tag|>",
        ),
        (
            "methods",
            "{% for m in messages if m.content is string %}{% set c = m.content %}\
            {{ c.split('<')[-1].lstrip('\\n').replace('a', 'bc').startswith('x') }}\
            {{ c[::-1] }}{{ c[:-3] ~ c[2:9:2] }}{{ c.find('s') }}{{ c.title() }}\
            {{ c | list | batch(3) | list | length }}{% endfor %}",
        ),
        (
            "numbers",
            "{{ 7 // 2 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ 1 / 3 }} {{ 10 | float }} {{ 'x' * \
            3 }} {{ [1, 2] + [3] }} {{ range(5, 0, -2) | list }} {{ 1e3 | int }} {{ true + 1 }}",
        ),
    ];
    let seed = |(name, source): (&str, &str)| {
        let mut bytes = source.as_bytes().to_vec();
        for content in conversation {
            bytes.push(0xFF);
            bytes.extend(content.bytes());
        }
        named(name, bytes)
    };
    sources.into_iter().chain(hostile_templates()).map(seed).collect()
}

/// Templates that ask for more than there is: lists that are made up when walked, values that nest,
/// and all of the syntax.
fn hostile_templates() -> [(&'static str, &'static str); 7] {
    [
        (
            "repeated",
            "{% set x = [messages] * 10 ** 8 %}{{ 4 in x }}{{ x == x[:] }}{{ x ~ '' }}\
            {{ x | pprint }}{{ x | join }}{{ x | sort }}{{ {x: 1} }}{% set a, b = x %}",
        ),
        (
            "doubled",
            "{% set ns = namespace(x=[1], y='a') %}{% for i in range(60) %}\
            {% set ns.x = ns.x + ns.x %}{% set ns.y = ns.y ~ ns.y %}{% endfor %}{{ ns.x[-1] }}",
        ),
        (
            "nested",
            "{% set ns = namespace(x=[1]) %}{% for i in range(9999) %}{% set ns.x = ns.x[:] %}\
            {% set ns.x = ns.x | reverse %}{% set ns.x = (ns.x | list)[::-1] * 1 %}{% endfor %}\
            {% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x == [ns.x] }}",
        ),
        (
            "shared",
            "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}\
            {% set ns.x = {'a': ns.x, 'b': (ns.x, 1)} %}{% endfor %}{{ ns.x | dictsort }}\
            {% for i in messages %}{{ loop.changed(ns.x) }}{% endfor %}{{ ns.x ~ ns }}",
        ),
        (
            "cyclic",
            "{% set ns = namespace() %}{% set ns.x = ns %}{% set t = namespace(a=[ns]) %}\
            {{ ns }}{{ ns == t }}{{ [ns] | tojson }}{{ dict(ns, b=t) }}",
        ),
        (
            "formats",
            "{{ '{0:9999}{0}' * 300 }}{{ ('{0}' * 3000).format('x' * 100000) }}\
            {{ '%(a)s%(a)s' | format(a=messages) }}{{ ('a\\n' * 9999) | indent(9999) }}",
        ),
        (
            "syntax",
            "{% raw %}{{ '{% endraw %}{{ a if b else c is not in [1, x] and not -x[1:].y(*z, \
            **w)|f(k=1, l)|g is eq x ~ (1,) ** {'k': 2, x: ()} }}{%- if a -%}{%+ elif b %}\
            {% set (a, ns.b), c = 1, 2 %}{% with x = 1, (y, z) = [2, 3] %}{% endwith %}{% endif %}",
        ),
    ]
}

/// Schemas, expressions and grammars, with the steps of a walk.
pub fn grammar() -> Vec<Seed> {
    let steps = [0u8, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
    let sources = [
        (
            0,
            "object",
            r#"{"type": "object", "properties": {"name": {"type": "string", "minLength":
            1, "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 150}},
            "required": ["name"], "additionalProperties": false}"#,
        ),
        (
            0,
            "choices",
            r##"{"anyOf": [{"enum": ["a", 1, null]}, {"$ref": "#/$defs/list"}],
            "$defs": {"list": {"type": "array", "items": {"$ref": "#"}, "maxItems": 3}}}"##,
        ),
        (
            0,
            "formats",
            r#"{"type": "array", "prefixItems": [{"type": "string", "format": "date"},
            {"type": "number", "multipleOf": 0.25}, {"type": "string", "pattern": "^[a-c]+$"}]}"#,
        ),
        (0, "anything", "true"),
        (1, "words", r"(yes|no), [A-Z][a-z]{2,9}( \d+)?\."),
        (1, "unicode", r"\p{Lu}\w*|[^\x00-\x7F]+(?i:é)*"),
        (1, "nested", r"((a|b)*c){1,20}[^a-z\\]*"),
        (2, "sums", "start: sum\nsum: NUMBER (\"+\" NUMBER)*\nNUMBER: /[0-9]+/\n%ignore / /\n"),
        (2, "recursive", "start: \"(\" start \")\" | \"x\"\n"),
        (
            2,
            "mixed",
            "start: head \" \" body\nhead: \"a\"..\"f\"\nbody: %json {\"type\": \"object\"}\n",
        ),
        (2, "control", "start: /[a-z]+/ <|call|> tail[stop=\"\\n\"]\ntail: /.*/\n"),
    ];
    let seed = |(kind, name, text): (u8, &str, &str)| {
        let mut bytes = vec![kind, steps.len() as u8];
        bytes.extend(steps);
        bytes.extend(text.bytes());
        named(name, bytes)
    };
    sources.into_iter().map(seed).collect()
}

/// Heads of tiny models of every architecture, and blueprints with one odd number each.
pub fn open_and_plan() -> Vec<Seed> {
    let mut seeds: Vec<Seed> = ARCHITECTURES
        .iter()
        .map(|architecture| named(architecture.name, head(&(architecture.tiny)(64))))
        .collect();
    // Places in the list of sizes that suit what each change sets: see `open_and_plan::change`.
    let suitable = [11, 14, 14, 1, 14, 4, 1, 11, 5, 0, 0, 8, 11, 5, 0, 11];
    for (change, size) in suitable.into_iter().enumerate() {
        // Architecture, format, biases, tied; one change; its numbers; no key changed.
        let architecture = (change % ARCHITECTURES.len()) as u8;
        let mut choices = vec![BLUEPRINT, architecture, 3, change as u8, 0, 1, change as u8, size];
        if change == 12 {
            choices.extend([4, 2]);
        } else {
            (0..5).for_each(|_| choices.extend(2f32.to_le_bytes()));
        }
        seeds.push(named(format!("blueprint_{change}"), choices));
    }
    seeds
}

/// The file of a blueprint up to its data.
fn head(blueprint: &Blueprint) -> Vec<u8> {
    let mut writer = Writer::new();
    for (key, value) in blueprint.metadata() {
        writer = writer.kv(key, value);
    }
    for TensorShape { name, dims } in blueprint.tensors().expect("tiny blueprints are sound") {
        let quant = if dims.len() > 1 { Quant::Q4_0 } else { Quant::F32 };
        let rows: u64 = dims[1..].iter().product();
        let row = quant.row_bytes(dims[0] as usize).expect("64 is a whole number of blocks");
        writer = writer.tensor(name, quant, dims, vec![0; row * rows as usize]);
    }
    let mut bytes = writer.to_bytes().expect("tiny files are sound");
    let file = File::from_bytes(bytes.clone()).expect("tiny files are read");
    let data = file.tensors().iter().map(|tensor| tensor.offset as usize).min();
    bytes.truncate(data.unwrap_or(bytes.len()));
    bytes
}
