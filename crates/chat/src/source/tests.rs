use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, context};
use proptest::prelude::*;

use super::*;
use crate::Error;

/// Deepest syntax in these tests, as by default.
const DEPTH: usize = 250;

fn written(source: &str) -> String {
    for_engine(source, DEPTH).unwrap_or_else(|error| panic!("{source}: {error}"))
}

#[test]
fn generation_blocks_become_scopes() {
    for (source, expected) in [
        ("{% generation %}a{% endgeneration %}", "{% with _=none %}a{% endwith %}"),
        ("{%- generation -%}a{%+ endgeneration+%}", "{%- with _=none -%}a{%+ endwith+%}"),
        ("{%\ngeneration\n%}{%endgeneration%}", "{%\nwith _=none\n%}{%endwith%}"),
        (
            "{# {% raw %} #}{%generation%}{%endgeneration%}",
            "{# {% raw %} #}{%with _=none%}{%endwith%}",
        ),
        (
            "{% raw %}{# {% endraw %}{%generation%}{%endgeneration%}",
            "{% raw %}{# {% endraw %}{%with _=none%}{%endwith%}",
        ),
    ] {
        assert_eq!(written(source), expected);
    }
    for source in [
        "{% generation",
        "{% generation a %}{% endgeneration %}",
        "{% generation %}{% endwith %}",
        "{% with a = 1 %}{% endgeneration %}",
    ] {
        assert!(
            matches!(for_engine(source, DEPTH), Err(Error::Syntax { line: 1, .. })),
            "{source}"
        );
    }
}

#[test]
fn raw_blocks_comments_and_strings_stay_as_they_are() {
    for same in [
        "a { b",
        "{% raw %}{% generation %}{{ a|safe + b }}{% endgeneration %}{% endraw %}",
        "{%- raw -%}{% generation %}{%+ endraw -%}",
        "{% raw %}{# {% endraw %}{{ a }}{% raw %}#}{{ a|safe + b }}{% endraw %}",
        "{# {% generation %}{{ a|safe + b }} #}",
        "{#- {% raw %}{% generation %} -#}{{ a }}",
        "{{ '{% generation %}' ~ \"{{ a|safe + b }}\" }}",
        "{{ '}}' ~ '{{ a|safe + b }}' }}",
    ] {
        assert_eq!(written(same), same);
    }
}

#[test]
fn sums_with_markup_escape_the_other_operands() {
    for (sum, expected) in [
        ("'+'|safe + t['+'] | tojson() + x", "'+'|safe + (t['+'] | tojson()|E) + (x|E)"),
        ("x + a | safe", "(x|E) + a | safe"),
        ("a|e + x", "a|e + (x|E)"),
        ("a|escape|upper + b|e", "a|escape|upper + b|e"),
        ("(a|safe) + 'b' ~ c|safe", "(a|safe) + (('b' ~ c|safe)|E)"),
        ("(a|safe + b|safe) + x", "(a|safe + b|safe) + (x|E)"),
        ("(a|safe or b|e) + x", "(a|safe or b|e) + (x|E)"),
        ("(a|safe if b else c) + b|e", "((a|safe if b else c)|E) + b|e"),
        ("a|safe|tojson + b|safe", "(a|safe|tojson|E) + b|safe"),
    ] {
        let expected = expected.replace("|E)", &format!("|{ESCAPE})"));
        for around in ["{{- SUM -}}", "{% set y = SUM %}", "{{ f(SUM) if x else y }}"] {
            assert_eq!(written(&around.replace("SUM", sum)), around.replace("SUM", &expected));
        }
    }
    for same in ["{{ 'a' + 'b' }}", "{{ a|safe ~ 'b' }}", "{{ a|safe }}", "{{ 'a|safe' + 'b' }}"] {
        assert_eq!(written(same), same);
    }
}

#[test]
fn constants_are_words_and_quoted_texts() {
    let found = constants("{% if a.type == 'two words' %}x-y");
    for text in ["type", "two words", "x-y", "if"] {
        assert!(found.contains(text), "{text}");
    }
    assert!(!found.contains("") && !found.contains("a.type"));
}

/// Pieces of templates, for random ones.
const PIECES: &[&str] = &[
    "{{ ",
    " }}",
    "{{-",
    "-}}",
    "{% ",
    " %}",
    "{%- ",
    " -%}",
    "{# ",
    " #}",
    "{%+ ",
    "\n",
    "text",
    "{% raw %}",
    "{% endraw %}",
    "{%- raw -%}",
    "{%endraw-%}",
    "{% if a %}",
    "{% elif b %}",
    "{% else %}",
    "{% endif %}",
    "{% for i in l %}",
    "{% for i, j in m.items() if i %}",
    "{% endfor %}",
    "{% set c = ",
    "{% set n.s = ",
    "{% set c, d = ",
    "{% set c %}",
    "{% endset %}",
    "{% macro f(a, b=1) %}",
    "{% endmacro %}",
    "{% call f(1) %}",
    "{% endcall %}",
    "{% with c = ",
    "{% endwith %}",
    "{% filter upper %}",
    "{% endfilter %}",
    "a",
    "b",
    "l",
    "m",
    "n.s",
    "c",
    "i",
    "'x'",
    "\"}}\"",
    "'%}'",
    "'\\''",
    "''",
    "1",
    "0x1f",
    "1.5",
    "1e3",
    "1.e2",
    "1_0",
    "l.0",
    "true",
    "none",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "=",
    ".x",
    ".upper()",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "~",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    " in ",
    " not in ",
    " and ",
    " or ",
    " not ",
    " if ",
    " else ",
    " is ",
    " is not ",
    "defined",
    "string",
    "in",
    "eq",
    "|upper",
    "|safe",
    "|e",
    "|join(',')",
    "|default(1)",
    "|length",
    "[1:]",
    "[::-1]",
    "[0]",
    "[-1]",
    "[a]",
    "['x']",
    "f(1)",
    "[1, a]",
    "{'x': a}",
    "(1, a)",
    "()",
    "namespace(s=1)",
    "n",
    "loop.index",
    "*l",
    "**m",
];

fn plain_engine() -> Environment<'static> {
    let mut engine = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    engine.set_syntax(syntax.expect("the usual delimiters"));
    for filter in [ESCAPE, OWN, HOLD, PAY, PAY_TEXT] {
        engine.add_filter(filter, |value: minijinja::Value| value);
    }
    engine.set_fuel(Some(10_000));
    engine
}

fn render(source: &str) -> Result<String, String> {
    let list = [1, 2, 3];
    let context = context! { a => "a", b => 2, l => list, m => context! { x => 1 } };
    plain_engine().render_str(source, context).map_err(|error| error.to_string())
}

/// Whether what is written in changes neither what a source means nor whether it has a meaning.
fn is_unchanged(source: &str) -> Result<(), String> {
    let parsed = plain_engine().template_from_str(source).map(drop);
    let rewritten = match for_engine(source, DEPTH) {
        Ok(rewritten) => rewritten,
        // The engine takes the word for a name where it stands for nothing else.
        Err(Error::Syntax { message, .. }) if message.starts_with("unexpected `not`") => {
            return Ok(());
        }
        Err(Error::Syntax { message, .. }) if parsed.is_ok() => return Err(message),
        Err(_) => return Ok(()),
    };
    match (render(source), render(&rewritten)) {
        (Ok(plain), Ok(same)) if plain == same => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        (plain, other) => Err(format!("{plain:?} became {other:?} in {rewritten}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_written_in_changes_no_meaning(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 1..14),
        prints in any::<bool>(),
    ) {
        let source = pieces.concat();
        let source = if prints { format!("{{{{ {source} }}}}") } else { source };
        prop_assert_eq!(is_unchanged(&source), Ok(()), "{}", source);
    }
}
