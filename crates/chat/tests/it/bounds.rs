//! Templates that would end the process if nothing stopped them, rendered in processes of their
//! own: on the stack of an ordinary thread, with a bound on the memory.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use minfer_chat::{ControlTexts, Error, Limits, Message, Request, SpecialTokens, Template};

/// Tells the process that it is the child.
const CHILD: &str = "MINFER_CHAT_BOUNDS";

/// Stack of a thread that nobody has asked another for.
const STACK_BYTES: usize = 2 << 20;

/// What a child may take, in KiB as `ulimit -v` wants it.
const MEMORY_KIB: &str = "1048576";

/// Time for one render, in a build that is not optimized for release.
const TIME: Duration = Duration::from_secs(2);

/// Time for all of a child's renders.
const CHILD_TIME: Duration = Duration::from_secs(240);

/// Sources that ask for too much as they stand.
const WHOLE: &[&str] = &[
    "{% set x = [bos_token] * 10 ** 8 %}{% set a, b = x %}",
    "{% set x = [1] * 10 ** 8 %}{{ x ~ '' }}",
    "{% set x = [1] * 10 ** 8 %}{{ x|pprint }}",
    "{% set x = ['a'] * 10 ** 8 %}{{ x|join }}",
    "{% set x = [1] * 10 ** 8 %}{{ x|sort }}",
    "{% set x = [1] * 10 ** 8 %}{{ x|unique|list }}",
    "{% set x = [1] * 10 ** 8 %}{{ x == [1] * 10 ** 8 }}",
    "{% set x = [1] * 10 ** 8 %}{{ '%s'|format(x) }}",
    "{% set x = [1] * 10 ** 8 %}{{ '{}'.format(x) }}",
    "{% set x = [1] * 10 ** 8 %}{{ x is eq(x[:]) }}",
    "{% set x = [1] * 10 ** 8 %}{{ x|safe }}{{ x|e }}",
    "{% set x = [1] * 10 ** 8 %}{{ {x: 1} }}{{ {}[x] }}",
    "{% set x = [1] * 10 ** 8 %}{{ 4 in x }}{{ x in [x[:]] }}",
    "{{ 4 in ([3] * 10 ** 8) }}",
    "{{ ([3] * 10 ** 8) == ([4 - 1] * 10 ** 8) }}",
    "{{ [1] * 10 ** 8 ~ '' }}",
    "{{ ((1,) * 10 ** 8)|length }}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}\
     {% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x|chain(ns.x) %}\
     {% endfor %}{% set a, b = ns.x %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}\
     {% endfor %}\
     {{ ns.x ~ '' }}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(16) %}{% set ns.x = [ns.x, ns.x] %}\
     {% endfor %}\
     {% set y = ns.x[:] %}{% for i in range(90000) %}{% if y == ns.x %}{% endif %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(16) %}{% set ns.x = [ns.x, ns.x] %}\
     {% endfor %}\
     {% for i in range(90000) %}{% if loop.changed(ns.x[:]) %}{% endif %}{% endfor %}",
    "{% set s = 'ab' * 10 ** 6 %}{% set t = s ~ 'c' %}{% set u = s ~ 'c' %}\
     {% for i in range(90000) %}{% if u == t %}{% endif %}{% endfor %}",
    "{% set s = 'ab' * 10 ** 6 %}{% set m = {'a': 1} %}\
     {% for i in range(90000) %}{% set y = m[s] %}{% endfor %}",
    "{% set s = 'äb' * 10 ** 6 %}{% for i in range(90000) %}{% set y = s[i:i + 1] %}{% endfor %}",
    "{% set s = 'äb' * 10 ** 6 %}{% for i in range(90000) %}{% set y = s[-1] %}{% endfor %}",
    "{% set s = 'äb' * 10 ** 6 %}{% for i in range(90000) %}{% set y = s[900000] %}{% endfor %}",
    "{% for i in range(90000) %}{% set x = range(100000) %}{% endfor %}",
    "{% set x = [range(9)|list] * 900000 %}{{ x|sum(start=[])|length }}",
    "{% set x = [range(9)|list] * 9000 %}{{ x|sum(start=[])|length }}",
    "{{ ('\\n' * 60000000).splitlines()|length }}",
    "{{ ('a ' * 40000000).split()|length }}",
    "{{ ('a ' * 40000000).split(' ')|length }}",
    "{% set x = ['a'] * 10 ** 8 %}{{ namespace(**x) }}{{ dict(*x) }}",
    "{% set x = {'a': 1} %}{% for i in range(90000) %}{{ range(0, *[i]) }}{% endfor %}",
    "{% set ns = namespace(x=1) %}{% set (ns.a), b = [ns], 1 %}{{ ns }}",
    "{% set t = namespace() %}{% set t.x = [[1] * 99999] * 99 %}{% for i in range(9999) %}\
     {% if t == namespace(x=1) %}{% endif %}{{ t ~ '' }}{% endfor %}",
    "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
    "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns ~ '' }}",
    "{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns|pprint }}",
    "{% set ns = namespace() %}{% set ns.x = ns %}{{ debug() }}",
    "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns == dict(ns) }}",
    "{% set ns = namespace(x=0) %}{% set t = namespace(x=0) %}{% set ns.x = t %}{% set t.x = ns %}\
     {{ ns|string|length }}{{ ns|tojson }}",
    "{% include 'chat' %}",
    "{% for i in range(50) %}{% include 'chat' %}{% endfor %}",
    "{% import 'chat' as c %}{{ c }}",
    "{% from 'chat' import x %}",
    "{% extends 'chat' %}",
    "{% block a %}{{ self.a() }}{{ self.a() }}{% endblock %}",
    "{% for x in [[1]] recursive %}{{ loop([x]) }}{% endfor %}",
    "{% macro f(x) %}{{ f([x]) }}{{ f([x]) }}{% endmacro %}{{ f(1) }}",
    "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}\
     {% endmacro %}{{ g() }}",
    "{{ '%999999999d'|format(1) }}",
    "{{ '%*d'|format(999999999, 1) }}",
    "{{ '{:999999999}'.format(1) }}",
    "{{ '{:{}}'.format(1, 999999999) }}",
    "{{ ('{0}' * 300000).format('x' * 1000000) }}",
    "{{ ('%(a)s' * 100000)|format(a='x' * 1000000) }}",
    "{{ ('{0:9999}' * 300000).format(1) }}",
    "{{ '%(\u{e4}u)s%(a)s'|format(a=1) }}",
    "{{ '{a[\u{e4}]}'.format(a=1) }}",
    "{{ '%(a%\u{e4})s'|format(a=1) }}{{ '{a[}][\u{e4}]}'.format(a=1) }}",
    "{{ '{{{a[\u{e4}]}'.format(a=1) }}",
    "{{ '{a[}][\u{e4}]}'.format(a=1) }}",
    "{{ '%\u{e4}'|format(1) }}{{ '{\u{e4}}'.format(1) }}",
    "{{ '{:\u{e4}'.format(1) }}",
    "{{ '%.\u{e4}'|format(1) }}",
    "{{ range(90000)|tojson(separators=('x' * 1000000, ':')) }}",
    "{{ ([{'a': 1}] * 90000)|tojson(separators=(',', 'x' * 1000000)) }}",
    "{{ ([{'x' * 1000000: 1}] * 90000)|tojson }}",
    "{{ ('\u{1}' * 80000000)|tojson|length }}",
    "{{ ['\u{1}' * 80000000]|string|length }}",
    "{{ ('\"' * 80000000)|e|length }}",
    "{{ ('\"' * 80000000 + ''|safe)|length }}",
    "{{ ('\u{390}' * 40000000)|upper|length }}",
    "{% set ns = namespace(x=range(90000)) %}{% for i in range(90) %}{% set ns.x = [ns.x] %}\
     {% endfor %}{{ ns.x|tojson(indent=64)|length }}",
    "{% set s = 'ab' * 1000000 %}{% for i in range(90000) %}{% set y = 'x'.find(s) %}{% endfor %}",
    "{{ 'x'.startswith(['ab' * 1000000] * 90000) }}",
    "{{ ('\\n' * 1000000)|indent(1000000) }}",
    "{{ ('a\\n' * 1000000)|indent('x' * 1000000) }}",
    "{{ ('a' * 1000000)|replace('a', 'x' * 1000000) }}",
    "{{ ('a' * 1000000)|list|join('x' * 1000000) }}",
    "{{ [1, 2]|batch(10 ** 9, 0) }}",
    "{{ [1, 2]|slice(10 ** 9)|list }}",
    "{{ range(10)|map('batch', 10 ** 8, 0)|list }}",
    "{{ 1|round(10 ** 9) }}{{ (1e308)|round(300) }}{{ 2 ** (10 ** 9) }}",
    "{% set s = messages[0].content %}{% set ns = namespace(s=s) %}{% for i in range(40) %}\
     {% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "{% set s = messages[0].content %}{% set ns = namespace(s=s) %}{% for i in range(40) %}\
     {% set ns.s = ns.s + ns.s %}{% endfor %}",
    "{% set x = messages[0].content|list %}{% set ns = namespace(s=x) %}{% for i in range(40) %}\
     {% set ns.s = ns.s + ns.s %}{% endfor %}",
];

/// What nests or grows a value, done in a loop.
const NESTED: &[&str] = &[
    "{% set ns.x = ns.x[:] %}",
    "{% set ns.x = ns.x[::-1] %}",
    "{% set ns.x = ns.x|reverse %}",
    "{% set ns.x = ns.x|chain([]) %}",
    "{% set ns.x = ns.x|chain %}",
    "{% set ns.x = ns.x|zip %}",
    "{% set ns.x = ns.x|map('list') %}",
    "{% set ns.x = ns.x|batch(2) %}",
    "{% set ns.x = ns.x|slice(1) %}",
    "{% set ns.x = ns.x|list %}",
    "{% set ns.x = ns.x * 1 %}",
    "{% set ns.x = 1 * ns.x %}",
    "{% set ns.x = ns.x + [] %}",
    "{% set ns.x = ns.x + ns.y %}",
    "{% set ns.x = [ns.x] %}",
    "{% set ns.x = (ns.x,) %}",
    "{% set ns.x = {'a': ns.x} %}",
    "{% set ns.x = {ns.x: 1} %}",
    "{% set ns.x = dict(a=ns.x) %}",
    "{% set ns.x = namespace(a=ns.x) %}",
    "{% set ns.x = [ns.x]|list %}",
    "{% set ns.x = {'a': ns.x}|items %}",
    "{% set ns.x = {'a': ns.x}|dictsort %}",
    "{% set ns.x = {'a': ns.x}.items() %}",
    "{% set ns.x = {'a': ns.x}.values() %}",
    "{% set ns.x = [{'a': ns.x}]|map(attribute='a') %}",
    "{% set ns.x = [{'a': 1, 'b': ns.x}]|groupby('a') %}",
    "{% set ns.x, ns.y = [ns.x], 1 %}",
    "{% set ns.x = ns.x, 1 %}",
    "{% set ns.x = ''|default([ns.x], true) %}",
    "{% set ns.x %}{{ i }}{% endset %}",
    "{% set n %}{% endset %}{% set n = namespace(a=ns.x) %}{% set ns.x = [n] %}",
    "{% set n = namespace() %}{% set n.a = ns.x %}{% set ns.x = n %}",
    "{% set ns.x = loop %}",
    "{% set p = ns.x %}{% macro m() %}{{ p }}{{ m }}{% endmacro %}{% set ns.x = m %}",
    "{% for z in [ns.x] %}{% set ns.x = [loop] %}{% endfor %}",
];

/// Chains of one link: what opens the chain, the link, and what closes it.
const CHAINS: &[(&str, &str, &str)] = &[
    ("{{ 1", "+1", " }}"),
    ("{{ x", "+x", " }}"),
    ("{{ x", "-x", " }}"),
    ("{{ x", "*x", " }}"),
    ("{{ x", "**x", " }}"),
    ("{{ x", "~x", " }}"),
    ("{{ x", "~(x)", " }}"),
    ("{{ x", "|e", " }}"),
    ("{{ x", ".e", " }}"),
    ("{{ x", "[0]", " }}"),
    ("{{ x", "[:]", " }}"),
    ("{{ x", "()", " }}"),
    ("{{ x", "==x", " }}"),
    ("{{ x", " in x", " }}"),
    ("{{ x", " or x", " }}"),
    ("{{ x", " and x", " }}"),
    ("{{ x", " is eq x", " }}"),
    ("{{ x", " is not defined", " }}"),
    ("{{ x", " if x else x", " }}"),
    ("{{ x", " if x", " }}"),
    ("{{ ", "not ", "x }}"),
    ("{{ ", "- ", "x }}"),
    ("{{ ", "(", "x }}"),
    ("{{ ", "[", "x }}"),
    ("{{ ", "{1:", "x }}"),
    ("{{ ", "f(", "x }}"),
    ("{{ ", "x|f(", "x }}"),
    ("{{ [", "x,", "] }}"),
    ("{{ [", "1,", "] }}"),
    ("{{ f(", "1,", ") }}"),
    ("{{ ", "'a' ", " }}"),
    ("{% if x %}", "{%elif x%}", "{% endif %}"),
    ("{% if x %}", "{%else%}{%if x%}", "{% endif %}"),
    ("", "{%if x%}", ""),
    ("", "{%for x in x%}", ""),
    ("", "{%with x=x%}", ""),
    ("", "{%set x%}", ""),
    ("", "{%filter e%}", ""),
    ("", "{%macro m()%}", ""),
    ("", "{%call m()%}", ""),
    ("{% set x = [1] %}", "{%set x=[x]%}", ""),
    ("{% set x = [1] %}", "{%set x=x[:]%}", ""),
    ("{% set x = [1] %}", "{%set x=x|reverse%}", ""),
    ("{% set x = [1] %}", "{%set x={1:x}%}", ""),
    ("{% set x = [1] %}", "{%with x=[x]%}{%endwith%}", ""),
    ("{% set x = 1 %}", "{{x}}", ""),
    ("", "{%macro m(a)%}{{m}}{%endmacro%}", ""),
    ("{% filter e", "|e", " %}{% endfilter %}"),
    ("{% set x", "|e", " %}{% endset %}"),
    ("{% set ", "(", "x"),
    ("{% set x", ".x", " = 1 %}"),
    ("{% for ", "(", "x"),
    ("{% with ", "a=1,", " %}{% endwith %}"),
];

/// Renders one input and says how it ended.
fn render(source: &str, request: &Request) -> String {
    let template = Template::new(source, SpecialTokens::default());
    let control = ControlTexts::new(["<|end|>"]);
    let result = template.and_then(|t| t.render(request, &Limits::default(), &control));
    result.map_or_else(|error| format!("{error:?}"), |prompt| format!("{:?}", prompt.pieces.len()))
}

/// Renders the inputs one after the other, and names each before.
fn be_child(inputs: Vec<String>, request: &Request) {
    let say = |words: String| writeln!(std::io::stdout(), "{words}").expect("the pipe is open");
    for source in inputs {
        say(format!("input: {}", source.chars().take(200).collect::<String>()));
        let request = request.clone();
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let start = Instant::now();
        let thread = thread.spawn(move || render(&source, &request)).expect("a thread starts");
        let ended = thread.join().expect("no panic");
        let time = start.elapsed();
        say(format!("ended: {} after {time:?}", ended.chars().take(200).collect::<String>()));
        assert!(time < TIME, "a render took {time:?}");
    }
    say("all ended".to_owned());
}

/// Runs a test of this file in a child, which must come to its end.
fn in_child(test: &str, inputs: Vec<String>, request: &Request) {
    if std::env::var_os(CHILD).is_some() {
        return be_child(inputs, request);
    }
    let this = std::env::current_exe().expect("this test's file");
    let mut command = Command::new(&this);
    if cfg!(unix) {
        command = Command::new("sh");
        let limited = format!("ulimit -v {MEMORY_KIB} 2>/dev/null; exec \"$0\" \"$@\"");
        command.arg("-c").arg(limited).arg(this);
    }
    command.args(["--exact", &format!("bounds::{test}"), "--nocapture"]).env(CHILD, "1");
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the child starts");
    let mut output = child.stdout.take().expect("its output is a pipe");
    let reader = std::thread::spawn(move || std::io::read_to_string(&mut output));
    let start = Instant::now();
    while child.try_wait().expect("the child is ours").is_none() {
        if start.elapsed() > CHILD_TIME {
            child.kill().expect("the child is ours");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = reader.join().expect("no panic").expect("text");
    let last: Vec<&str> = told.lines().rev().take(3).collect();
    assert!(told.contains("all ended"), "{last:?}");
}

#[test]
fn sources_that_ask_for_too_much() {
    let messages = vec![Message::new("user", "x".repeat(1 << 20))];
    let request = Request { messages, ..Request::default() };
    let inputs = WHOLE.iter().map(|source| (*source).to_owned()).collect();
    in_child("sources_that_ask_for_too_much", inputs, &request);
}

#[test]
fn loops_that_nest_values() {
    let looped = |step: &&str| {
        format!(
            "{{% set ns = namespace(x=[1], y=[1]) %}}{{% for i in range(100000) %}}{step}\
             {{% endfor %}}{{{{ ns.x|length }}}}{{% for i in ns.x %}}{{% endfor %}}"
        )
    };
    let inputs = NESTED.iter().map(looped).collect();
    in_child("loops_that_nest_values", inputs, &Request::default());
}

#[test]
fn chains_as_long_as_a_source_may_be() {
    let chain = |(open, link, close): &(&str, &str, &str)| {
        format!("{open}{}{close}", link.repeat(1_000_000 / link.len()))
    };
    let inputs = CHAINS.iter().map(chain).collect();
    in_child("chains_as_long_as_a_source_may_be", inputs, &Request::default());
}

#[test]
fn a_chain_is_refused_by_name_and_line() {
    let sum = |operands: usize| format!("one\n{{{{ x{} }}}}", " + x".repeat(operands - 1));
    let template = |source: &str| Template::new(source, SpecialTokens::default()).map(drop);
    assert_eq!(template(&sum(240)), Ok(()));
    let error = Error::SyntaxTooDeep { line: 2, found: 251, limit: 250 };
    assert_eq!(template(&sum(300)), Err(error.clone()));
    assert_eq!(
        error.to_string(),
        "the chat template nests or chains 251 levels at line 2; at most 250 are read"
    );
}

#[test]
fn what_is_bounded_gives_what_it_gave() {
    let nines = "[9]".to_owned() + &" + [9]".repeat(99);
    for (source, expected) in [
        ("{{ [1, 2] * 2 }}", "[1, 2, 1, 2]"),
        ("{{ (1, 2) * 2 }}", "(1, 2, 1, 2)"),
        ("{{ [1] + (x or [2]) }}", "[1, 2]"),
        ("{{ (1, 2, 3)[1:] }}", "(2, 3)"),
        ("{{ [1, 2, 3][::-1] }}", "[3, 2, 1]"),
        ("{{ [1, 2, 3][:2] is sequence }}", "True"),
        ("{{ [1, 2, 3]|reverse|list }}", "[3, 2, 1]"),
        ("{{ {'a': messages[0].role}|items|list }}", "[('a', 'user')]"),
        ("{{ [3, 1, 2]|sort }}", "[1, 2, 3]"),
        ("{{ [{'a': 1, 'b': 2}]|map(attribute='b')|list }}", "[2]"),
        ("{% for g, l in [{'a': 1}]|groupby('a') %}{{ g }}{{ l|length }}{% endfor %}", "11"),
        ("{% for g in [{'a': 1}]|groupby('a') %}{{ g.grouper }}{% endfor %}", "1"),
        ("{{ [[1], [2]]|sum(start=[]) }}", "[1, 2]"),
        ("{{ 'a' is in [bos_token, 'a'] }}", "True"),
        ("{{ 1 is eq [x, 1][1] }}", "True"),
        ("{{ messages[0].role ~ [1, none] }}", "user[1, None]"),
        ("{{ 2 ** 3 * 2 - -1 }}", "17"),
        ("{{ x is not defined and not x }}", "True"),
        ("{% set a, b = 1, [x] %}{{ a }}", "1"),
        ("{% set ns = namespace(a=1, b=2) %}{% set ns.c = [ns.a] %}{{ ns.c }}", "[1]"),
        ("{% macro f(a, b=[1]) %}{{ a ~ b }}{% endmacro %}{{ f(*[1], **{'b': 2}) }}", "12"),
        ("{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{% endfor %}", "TrueFalseTrue"),
        ("{{ 'a\nb'|indent(2) }}", "a\n  b"),
        ("{{ '%d% (\u{e4})'.replace('% ', '%% ')|format(1) }}", "1% (\u{e4})"),
        ("{{ '%s-%s'|format(1, 'x') }}{{ '{}-{a}'.format(1, a=2) }}", "1-x1-2"),
        (&format!("{{{{ ({nines})|length }}}}"), "100"),
    ] {
        let messages = vec![Message::new("user", "Hi")];
        let request = Request { messages, ..Request::default() };
        let template = Template::new(source, SpecialTokens::default()).expect("it parses");
        let prompt = template.render(&request, &Limits::default(), &ControlTexts::default());
        assert_eq!(prompt.map(|prompt| prompt.text()), Ok(expected.to_owned()), "{source}");
    }
}
