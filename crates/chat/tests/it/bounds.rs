//! Templates that would end the process if nothing stopped them, each rendered in a process of its
//! own: on the stack of an ordinary thread, with a bound on its memory.

use std::process::Command;
use std::time::{Duration, Instant};

use minfer_chat::{ControlTexts, Error, Limits, Message, Request, SpecialTokens, Template};

/// Tells the process that it is the child, and which input is its own.
const CHILD: &str = "MINFER_CHAT_BOUNDS_INPUT";

/// Stack of a thread that nobody has asked another for.
const STACK_BYTES: usize = 2 << 20;

/// What a child may take, in KiB as `ulimit -v` wants it.
const MEMORY_KIB: &str = "1048576";

/// Time for one input, a process started included, in a build without optimization.
const TIME: Duration = Duration::from_secs(2);

/// Name and source of each input.
fn inputs() -> Vec<(String, String)> {
    let mut inputs: Vec<(String, String)> = Vec::new();
    for (at, source) in WHOLE.iter().enumerate() {
        inputs.push((format!("whole {at}"), (*source).to_owned()));
    }
    for step in NESTED {
        let source = format!(
            "{{% set ns = namespace(x=[1], y=[1]) %}}{{% for i in range(100000) %}}{step}\
             {{% endfor %}}{{{{ ns.x|length }}}}{{% for i in ns.x %}}{{% endfor %}}"
        );
        inputs.push((format!("loop of {step}"), source));
    }
    for (open, link, close) in CHAINS {
        let links = link.repeat(900_000 / link.len());
        inputs.push((format!("chain of {link}"), format!("{open}{links}{close}")));
    }
    inputs
}

/// What is wrong with a source as it stands.
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
    "{% set x = range(100000)|list %}{% set y = x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x\
     +x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x\
     +x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x\
     %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x|chain(ns.x) %}\
     {% endfor %}{% set a, b = ns.x %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}\
     {{ ns.x ~ '' }}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(16) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}\
     {% set y = ns.x[:] %}{% for i in range(90000) %}{% if y == ns.x %}{% endif %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(16) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}\
     {% for i in range(90000) %}{% if loop.changed(ns.x[:]) %}{% endif %}{% endfor %}",
    "{% set s = 'ab' * 10 ** 6 %}{% set t = s ~ 'c' %}{% set u = s ~ 'c' %}\
     {% for i in range(90000) %}{% if u == t %}{% endif %}{% endfor %}",
    "{% set s = 'ab' * 10 ** 6 %}{% set m = {'a': 1} %}\
     {% for i in range(90000) %}{% set y = m[s] %}{% endfor %}",
    "{% set s = 'äb' * 10 ** 6 %}{% for i in range(90000) %}{% set y = s[i:i + 1] %}{% endfor %}",
    "{% set s = 'äb' * 10 ** 6 %}{% for i in range(90000) %}{% set y = s[-1] %}{% endfor %}",
    "{% set s = 'äb' * 10 ** 6 %}{% for i in range(90000) %}{% set y = s[900000] %}{% endfor %}",
    "{% for i in range(90000) %}{% set x = range(100000) %}{% endfor %}",
    "{% set m = dict.fromkeys %}{% for i in range(90000) %}{% set x = dict(range(9)|zip) %}{% endfor %}",
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

fn request() -> Request {
    Request { messages: vec![Message::new("user", "x".repeat(1 << 20))], ..Request::default() }
}

/// Renders one input and says how it ended.
fn render(at: usize) -> String {
    let source = inputs().swap_remove(at).1;
    let ended = |error: Error| {
        let text = format!("{error:?}");
        format!("error {}", text.split([' ', '{']).next().unwrap_or_default())
    };
    let template = match Template::new(&source, SpecialTokens::default()) {
        Ok(template) => template,
        Err(error) => return ended(error),
    };
    let control = ControlTexts::new(["<|end|>"]);
    let results = [Request::default(), request()].map(|request| {
        let result = template.render(&request, &Limits::default(), &control);
        result.map_or_else(ended, |_| "rendered".to_owned())
    });
    results.join(", ")
}

fn run(at: usize) -> (String, Duration) {
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        let limited = format!("ulimit -v {MEMORY_KIB} 2>/dev/null; exec \"$0\" \"$@\"");
        shell.arg("-c").arg(limited).arg(std::env::current_exe().expect("this test's file"));
        shell
    } else {
        Command::new(std::env::current_exe().expect("this test's file"))
    };
    command.args(["--exact", "bounds::no_template_ends_the_process", "--nocapture"]);
    let start = Instant::now();
    let output = command.env(CHILD, at.to_string()).output().expect("the child starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let told =
        told.lines().find_map(|line| line.split_once("ended: ").map(|(_, end)| end.to_owned()));
    let told = told.filter(|_| output.status.success());
    let failure = || {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("DIED {} {}", output.status, words.trim())
    };
    (told.unwrap_or_else(failure), start.elapsed())
}

#[test]
fn no_template_ends_the_process() {
    if let Ok(at) = std::env::var(CHILD) {
        let at = at.parse().expect("a number");
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || render(at));
        println!("ended: {}", thread.expect("a thread starts").join().expect("no panic"));
        return;
    }
    let mut wrong = Vec::new();
    for (at, (name, _)) in inputs().iter().enumerate() {
        let (told, time) = run(at);
        if std::env::var_os("VERBOSE").is_some() {
            eprintln!("{time:?} {name}: {told}");
        }
        if told.starts_with("DIED") || time > TIME {
            wrong.push(format!("{name}: {told} after {time:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
