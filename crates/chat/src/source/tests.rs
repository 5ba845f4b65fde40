use super::*;

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
