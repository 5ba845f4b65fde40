use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, context};
use proptest::prelude::*;

use super::*;
use crate::Error;

#[test]
fn generation_blocks_become_scopes() {
    let source = "{%- generation -%}a{% endgeneration %}{# {% generation %} #}{% if a %}";
    let expected = "{%- with _=none -%}a{% endwith %}{# {% generation %} #}{% if a %}";
    assert_eq!(for_engine(source), expected);
    assert_eq!(for_engine("{% generation"), "{% generation");
    assert_eq!(for_engine("a { b"), "a { b");
}

#[test]
fn sums_with_a_safe_operand_escape_the_others() {
    let escaped = |operand: &str| format!("({operand})|{ESCAPE}");
    assert_eq!(
        for_engine("{{- '+'|safe + t['+'] | tojson() + x -}}"),
        format!("{{{{- '+'|safe +{}+{}}}}}", escaped(" t['+'] | tojson() "), escaped(" x "))
            .replace(")|__escape_for_markup}}", ")|__escape_for_markup-}}"),
    );
    for same in [
        "{{ a + b }}",
        "{{ a ~ (b | safe) ~ c }}",
        "{{ a|safe + b if c else d }}",
        "{{ a|safe }}",
        "{{ unsafe + b }}",
        "{{ 'a|safe' + b }}",
        "{{ a) + b|safe }}",
    ] {
        assert_eq!(for_engine(same), same);
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
    for filter in [OWN, HOLD, PAY, PAY_TEXT] {
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

/// Whether bounds change neither what a source means nor whether it has a meaning.
fn is_unchanged(source: &str) -> Result<(), String> {
    let parsed = plain_engine().template_from_str(source).map(drop);
    let bounded = match bounded(source, 250) {
        Ok(bounded) => bounded,
        // The engine takes the word for a name where it stands for nothing else.
        Err(Error::Syntax { message, .. }) if message.starts_with("unexpected `not`") => {
            return Ok(());
        }
        Err(Error::Syntax { message, .. }) if parsed.is_ok() => return Err(message),
        Err(_) => return Ok(()),
    };
    match (render(source), render(&bounded)) {
        (Ok(plain), Ok(same)) if plain == same => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        (plain, other) => Err(format!("{plain:?} became {other:?} in {bounded}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn bounds_change_no_meaning(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 1..14),
        prints in any::<bool>(),
    ) {
        let source = pieces.concat();
        let source = if prints { format!("{{{{ {source} }}}}") } else { source };
        prop_assert_eq!(is_unchanged(&source), Ok(()), "{}", source);
    }
}
