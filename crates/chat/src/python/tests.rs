//! Expected values are those of Python 3.11 and Jinja2 3.1.

use minijinja::context;

use super::*;

fn marks() -> Marks {
    Marks::absent_from([]).expect("free characters")
}

/// Variables of the sources below; `user` is a marked text and a space.
const VARIABLES: &str = "{% set s = '  Ab-cD ef\\n' %}{% set empty = [] %}\
    {% set list = [1, \"a'b\", none, true, 2.5] %}\
    {% set map = {'b': 1, 'a': {'items': [1]}} %}{% set items = {'items': 1} %}";

fn render(source: &str) -> Result<String, Error> {
    let mut environment = environment();
    install(&mut environment, marks(), Now::default(), &Limits::default());
    let user = marks().around(" <a> b ", std::slice::from_ref(&(0..7)));
    let source = source::for_engine(&format!("{VARIABLES}{source}"), 250).expect("it parses");
    environment.render_str(&source, context! { user })
}

fn check(source: &str, expected: &str) {
    match render(source) {
        Ok(text) => assert_eq!(text, expected, "{source}"),
        Err(error) => panic!("{source}: {error:#}"),
    }
}

#[test]
fn string_methods() {
    check(
        "[{{ s.strip() }}|{{ s.lstrip() }}|{{ s.rstrip() }}]",
        "[Ab-cD ef|Ab-cD ef\n|  Ab-cD ef]",
    );
    check("{{ 'xxaxx'.strip('x') ~ 'abc'.rstrip('bc') ~ 'abc'.lstrip('ba') }}", "aac");
    check("{{ s.split() }}", "['Ab-cD', 'ef']");
    check("{{ ' a  b c'.split(none, 1) }}", "['a', 'b c']");
    check("{{ 'a,b,,c'.split(',') }}", "['a', 'b', '', 'c']");
    check("{{ 'a,b,c'.split(',', 1) }}{{ 'a,b,c'.rsplit(',', 1) }}", "['a', 'b,c']['a,b', 'c']");
    check("{{ 'a=b=c'.partition('=') }}", "('a', '=', 'b=c')");
    check("{{ 'a=b=c'.rpartition('=') }}", "('a=b', '=', 'c')");
    check("{{ 'a\nb\r\nc\n'.splitlines() }}", "['a', 'b', 'c']");
    check("{{ 'abc'.startswith('a') }} {{ 'abc'.endswith(('x', 'c')) }}", "True True");
    check("{{ 'abcb'.find('b') }} {{ 'abcb'.rfind('b') }} {{ 'é'.find('x') }}", "1 3 -1");
    check("{{ 'aaa'.replace('a', 'b', 2) }} {{ 'ab'.replace('', '-') }}", "bba -a-b-");
    check("{{ 'abab'.count('ab') }} {{ [1, 2, 1].count(1) }}", "2 2");
    check("{{ ', '.join(['a', 'b']) }}", "a, b");
    check("{{ 'hello wORLD'.title() }} {{ 'hELLO w'.capitalize() }}", "Hello World Hello w");
    check("{{ 'aB'.upper() ~ 'aB'.lower() }}", "ABab");
    check("{{ 'ab'.removeprefix('a') ~ 'ab'.removesuffix('b') ~ 'ab'.removeprefix('x') }}", "baab");
    check("{{ '1'.isdigit() }} {{ ''.isalpha() }} {{ 'aB'.islower() }}", "True False False");
    check("{{ '{} of {x}'.format(1, x=2) }}", "1 of 2");
}

#[test]
fn wrong_calls_are_errors() {
    for source in [
        "{{ 'a'.split('') }}",
        "{{ 'a'.nothing() }}",
        "{{ empty.append(1) }}",
        "{{ 'a'.index('b') }}",
        "{{ ','.join([1]) }}",
        "{{ 'a'.startswith(1) }}",
        "{{ '{:>99999}'.format(1) }}",
        "{{ range(1, 2, 0) }}",
        "{{ range(1000000) }}",
        "{{ none | length }}",
        "{{ {'a': 1} | tojson(indent=1000000) }}",
        "{{ nothing | tojson }}",
    ] {
        assert!(render(source).is_err(), "{source}");
    }
}

#[test]
fn dict_methods() {
    check("{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}", "b=1;a={'items': [1]};");
    check("{% for k, v in items.items() %}{{ k }}={{ v }}{% endfor %}", "items=1");
    check("{{ map.get('b') }} {{ map.get('x') }} {{ map.get('x', 3) }}", "1 None 3");
    check("{{ map.keys() | list }} {{ map.values() | list }}", "['b', 'a'] [1, {'items': [1]}]");
}

#[test]
fn values_print_as_in_python() {
    check(
        "{{ list }} {{ none }} {{ true }} {{ nothing }}",
        "[1, \"a'b\", None, True, 2.5] None True ",
    );
    check(
        "{{ 1.0 }} {{ 1e16 }} {{ 1e15 }} {{ 0.00001 }} {{ 0.0001 }}",
        "1.0 1e+16 1000000000000000.0 1e-05 0.0001",
    );
    check("{{ ['a\\n', 'q\"\\''] }}", r#"['a\n', 'q"\'']"#);
    check("{{ list | string | length }}", "27");
}

#[test]
fn tests_on_types() {
    check(
        "{{ 'a' is iterable }} {{ none is iterable }} {{ nothing is iterable }}",
        "True False True",
    );
    check("{{ 'a' is sequence }} {{ 1 is sequence }} {{ true is number }}", "True False True");
}

#[test]
fn json_as_python_writes_it() {
    check("{{ map | tojson }}", r#"{"b": 1, "a": {"items": [1]}}"#);
    check("{{ map | tojson(sort_keys=true) }}", r#"{"a": {"items": [1]}, "b": 1}"#);
    check("{{ list | tojson(indent=2) }}", "[\n  1,\n  \"a'b\",\n  null,\n  true,\n  2.5\n]");
    check("{{ empty | tojson(indent=2) }}{{ {} | tojson }}", "[]{}");
    check("{{ map | tojson(separators=(',', ':')) }}", r#"{"b":1,"a":{"items":[1]}}"#);
    check("{{ '<é\u{1f600}>\\n\u{1}' | tojson }}", "\"<é\u{1f600}>\\n\\u0001\"");
    check("{{ 'é\u{1f600}' | tojson(ensure_ascii=True) }}", r#""\u00e9\ud83d\ude00""#);
    check("{{ [1, 'a'] * 2 }} {{ ([1] * 2) | tojson }}", "[1, 'a', 1, 'a'] [1, 1]");
    check("{{ {1: 2, none: 3, true: 4} | tojson }}", r#"{"1": 4, "null": 3}"#);
}

#[test]
fn markup_escapes_what_is_added_to_it() {
    check("{{ '<a>'|safe + '<' + '\"' }} {{ '<' + '<a>'|safe }}", "<a>&lt;&#34; &lt;<a>");
    check(
        "{{ '<'|e + '<' }} {{ '<'|safe + '<'|escape }} {{ ('<'|safe|trim|d) + '<' }}",
        "&lt;&lt; <&lt; <&lt;",
    );
    check("{% set x = '<a>'|safe + '<' %}{{ x }} {{ ('<a>'|safe + '<')|length }}", "<a>&lt; 7");
    check("{{ '<' ~ '<a>'|safe ~ '<' }} {{ ('<a>'|safe ~ '<') + '<' }}", "<<a>< <a><<");
    check("{% raw %}{{ '<a>'|safe + '<' }}{% endraw %}", "{{ '<a>'|safe + '<' }}");
    check("{{ '\\'/>&\"'|e }} {{ [1.0, '<']|e }}", "&#39;/&gt;&amp;&#34; [1.0, &#39;&lt;&#39;]");
    check("{{ '<'|e|trim|escape }} {{ ('<'|safe + '>')|string|e }}", "&lt; <&gt;");
    for source in ["{{ 'a'|safe + 1 }}", "{{ [1] + 'a'|safe }}", "{{ 'a'|safe + nothing }}"] {
        assert!(render(source).is_err(), "{source}");
    }
}

#[test]
fn what_is_joined_is_written_as_in_python() {
    check(
        "{{ 'a' ~ ['b', 1.0] ~ {'c': none} ~ 2.5 ~ true ~ none ~ ('d',) }}",
        "a['b', 1.0]{'c': None}2.5TrueNone('d',)",
    );
}

#[test]
fn groups_are_named_tuples_wherever_they_are_kept() {
    let kept = "{% set ns = namespace() %}{% set ns.groups = GROUPS %}\
                {% set ns.last = ns.groups[1] %}{% set ns.list = [ns.last, (GROUPS)|first] %}";
    let groups = "[{'a': 2, 'b': 3}, {'a': 1, 'b': 4}, {'a': 2, 'b': 5}]|groupby('a')";
    let kept = kept.replace("GROUPS", groups);
    for (source, expected) in [
        (
            "{% for g in ns.groups %}{{ g.grouper }}{{ g[0] }}{{ g['grouper'] }};{% endfor %}",
            "111;222;",
        ),
        ("{% for key, items in ns.groups %}{{ key }}{{ items|length }};{% endfor %}", "11;22;"),
        ("{{ ns.groups }}", "[(1, [{'a': 1, 'b': 4}]), (2, [{'a': 2, 'b': 3}, {'a': 2, 'b': 5}])]"),
        (
            "{{ ns.last.list }} {{ ns.last[1] == ns.last[-1] }}",
            "[{'a': 2, 'b': 3}, {'a': 2, 'b': 5}] True",
        ),
        ("{{ ns.list[0].grouper }} {{ ns.list[1].list[0].b }}", "2 4"),
        ("{{ ns.groups|map(attribute='grouper')|list }}", "[1, 2]"),
        ("{{ (ns.groups|sort(attribute='grouper', reverse=true))[0].grouper }}", "2"),
        (
            "{{ ns.list[1]|tojson }} {{ ns.list[1] ~ '' }}",
            "[1, [{\"a\": 1, \"b\": 4}]] (1, [{'a': 1, 'b': 4}])",
        ),
        (
            "{{ ns.last|length }} {{ ns.last is sequence }} {{ ns.last.other is defined }}",
            "2 True False",
        ),
        ("{{ 2 in ns.last }} {{ ns.last.index(2) }} {{ ns.last|list|length }}", "True 0 2"),
    ] {
        check(&format!("{kept}{source}"), expected);
    }
}

#[test]
fn marks_are_invisible_to_methods_and_filters() {
    let plain = |source: &str| Text::parse(&render(source).expect(source), marks());
    for (source, expected, user) in [
        ("{{ user.strip() }}", "<a> b", 0..5),
        ("{{ user | trim }}", "<a> b", 0..5),
        ("x{{ user.split('> ')[0] }}", "x <a", 1..4),
        ("{{ user.startswith(' <') }}{{ user | upper }}", "True <A> B ", 4..11),
        ("{{ user.replace('a', '-') }}", " <-> b ", 0..2),
        ("{{ user | length }}{{ user }}", "7 <a> b ", 1..8),
        ("{{ user.find('a') }}{{ user.title() }}", "2 <A> B ", 1..8),
        ("{{ {'k': user} | tojson(ensure_ascii=true) }}", "{\"k\": \" <a> b \"}", 7..14),
        ("{{ ''.join(['x', user]) }}", "x <a> b ", 1..8),
        ("{{ '{}'.format(user) }}", " <a> b ", 0..7),
    ] {
        let text = plain(source);
        assert_eq!(text.plain, expected, "{source}");
        assert_eq!(text.user.first(), Some(&user), "{source}");
        assert!(!text.torn, "{source}");
    }
}
