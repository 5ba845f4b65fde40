//! The engine's own filters, tests and functions, as far as they walk, compare or nest values:
//! each pays for its arguments first and gives only values that templates may keep (`held`).

use minijinja::value::{Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters, functions, tests};

use super::group::Group;
use super::held::{hold, own, pay, pay_for_text};
use super::invalid;
use super::meter::Meter;
use crate::Limits;

/// What a filter does, as far as it costs anything.
#[derive(Clone, Copy)]
enum Work {
    /// Walks its arguments once; its result holds items as they are.
    Walk,
    /// Compares items with each other.
    Sort,
    /// Adds items up, which copies what is a list again and again.
    Sum,
    /// Puts items into new lists.
    Nest,
    /// [`Work::Sort`], into groups.
    Group,
    /// Writes its arguments out.
    Text,
    /// [`Work::Text`], once for each field of a format.
    Format,
    /// [`Work::Text`], with white space before each line.
    Indent,
}

fn builtin_filters() -> [(&'static str, Work, Value); 23] {
    use Work::{Format, Group, Indent, Nest, Sort, Sum, Text, Walk};
    [
        ("attr", Walk, Value::from_function(filters::attr)),
        ("batch", Nest, Value::from_function(filters::batch)),
        ("dictsort", Nest, Value::from_function(filters::dictsort)),
        ("format", Format, Value::from_function(filters::format)),
        ("groupby", Group, Value::from_function(filters::groupby)),
        ("indent", Indent, Value::from_function(filters::indent)),
        ("items", Nest, Value::from_function(filters::items)),
        ("join", Text, Value::from_function(filters::join)),
        ("list", Walk, Value::from_function(filters::list)),
        ("map", Nest, Value::from_function(filters::map)),
        ("max", Sort, Value::from_function(filters::max)),
        ("min", Sort, Value::from_function(filters::min)),
        ("pprint", Text, Value::from_function(filters::pprint)),
        ("reject", Walk, Value::from_function(filters::reject)),
        ("rejectattr", Walk, Value::from_function(filters::rejectattr)),
        ("reverse", Walk, Value::from_function(filters::reverse)),
        ("safe", Text, Value::from_function(filters::safe)),
        ("select", Walk, Value::from_function(filters::select)),
        ("selectattr", Walk, Value::from_function(filters::selectattr)),
        ("slice", Nest, Value::from_function(filters::slice)),
        ("sort", Sort, Value::from_function(filters::sort)),
        ("sum", Sum, Value::from_function(filters::sum)),
        ("unique", Sort, Value::from_function(filters::unique)),
    ]
}

pub(super) fn install(environment: &mut Environment<'static>, limits: &Limits) {
    for (name, work, builtin) in builtin_filters() {
        let limits = limits.clone();
        environment.add_filter(name, move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            before(Meter::new(state, &limits), work, &arguments)?;
            let result = builtin.call(state, &arguments)?;
            after(Meter::new(state, &limits), work, result)
        });
    }
    install_tests(environment, limits);
    install_functions(environment, limits);
}

/// Removes what Jinja2 has not, and what would need a bound of its own.
pub(super) fn remove_others(environment: &mut Environment<'static>) {
    for filter in ["chain", "lines", "split", "zip"] {
        environment.remove_filter(filter);
    }
    environment.remove_global("debug");
}

fn before(meter: Meter, work: Work, arguments: &[Value]) -> Result<(), Error> {
    let Some(first) = arguments.first() else { return Ok(()) };
    let all = |pay: fn(Meter, &Value) -> Result<(), Error>| {
        arguments.iter().try_for_each(|argument| pay(meter, argument))
    };
    match work {
        Work::Walk | Work::Nest => all(pay),
        Work::Sort | Work::Group => {
            // Each item is compared as often as a list of so many can be halved.
            let halves = usize::BITS - first.len().unwrap_or(0).leading_zeros();
            (0..=halves).try_for_each(|_| all(pay))
        }
        Work::Sum => {
            // The engine copies its sum at every 32nd item.
            (0..=first.len().unwrap_or(0) / 32).try_for_each(|_| all(pay))
        }
        Work::Text => all(pay_for_text),
        Work::Format => {
            check_names(first.as_str().unwrap_or_default())?;
            let fields = first.as_str().map_or(0, |format| format.matches('%').count());
            pay_for_fields(meter, fields, &arguments[1..])
        }
        Work::Indent => {
            all(pay_for_text)?;
            let lines = first.as_str().map_or(0, |text| text.matches('\n').count()) + 1;
            meter.charge(lines.saturating_mul(indentation(&arguments[1..])?))
        }
    }
}

fn after(meter: Meter, work: Work, result: Value) -> Result<Value, Error> {
    match work {
        Work::Walk | Work::Sort | Work::Sum | Work::Text | Work::Format | Work::Indent => {
            own(meter, result)
        }
        Work::Nest => hold(meter, result),
        Work::Group => {
            // The engine's groups have become lists of two here.
            let groups = hold(meter, result)?;
            groups.try_iter()?.map(|pair| Group::of(&pair).map(Value::from_object)).collect()
        }
    }
}

/// Refuses a format whose names, as in `%(name)s`, are not ASCII: the engine steps through them
/// byte by byte, and fails inside a character.
fn check_names(format: &str) -> Result<(), Error> {
    let mut rest = format;
    while let Some((_, field)) = rest.split_once('%') {
        rest = field.strip_prefix('%').unwrap_or(field);
        if let Some(name) = field.strip_prefix('(') {
            check_name(name, ')')?;
        }
    }
    Ok(())
}

/// The same for keys, as in `{0[key]}`.
pub(super) fn check_keys(format: &str) -> Result<(), Error> {
    let mut rest = format;
    while let Some((_, field)) = rest.split_once('{') {
        rest = field.strip_prefix('{').unwrap_or(field);
        let mut path = rest;
        while let Some(at) = path.find(['[', '}', ':']).filter(|at| path[*at..].starts_with('[')) {
            let key = &path[at + 1..];
            check_name(key, ']')?;
            path = key.split_once(']').map_or("", |(_, after)| after);
        }
    }
    Ok(())
}

fn check_name(name: &str, close: char) -> Result<(), Error> {
    if name.split(close).next().is_some_and(str::is_ascii) {
        return Ok(());
    }
    Err(invalid("a name in a format is not ASCII"))
}

/// Pays for a format with so many fields, each of which may show any argument.
pub(super) fn pay_for_fields(
    meter: Meter,
    fields: usize,
    arguments: &[Value],
) -> Result<(), Error> {
    let texts = |argument: &Value| argument.as_str().map_or(0, str::len);
    meter.charge(fields.saturating_mul(arguments.iter().map(texts).sum()))?;
    for argument in arguments.iter().filter(|argument| is_container(argument)) {
        (0..fields).try_for_each(|_| pay_for_text(meter, argument))?;
    }
    Ok(())
}

/// The widest that an indentation with these arguments can be.
fn indentation(arguments: &[Value]) -> Result<usize, Error> {
    let mut width = 0;
    for argument in arguments {
        if argument.is_kwargs() {
            let named = argument.get_attr("width")?;
            width = width.max(named.as_usize().unwrap_or(0));
        }
        width = width.max(argument.as_usize().unwrap_or(0));
    }
    Ok(width)
}

fn is_container(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable | ValueKind::Map)
}

/// Pays for comparing two values once.
fn pay_to_compare(meter: Meter, left: &Value, right: &Value) -> Result<(), Error> {
    match (left.as_str(), right.as_str()) {
        (Some(left), Some(right)) => meter.charge(left.len().min(right.len())),
        _ if is_container(left) && is_container(right) => {
            pay(meter, left)?;
            pay(meter, right)
        }
        _ => Ok(()),
    }
}

fn install_tests(environment: &mut Environment<'static>, limits: &Limits) {
    type Comparison = fn(&Value, &Value) -> bool;
    let comparisons: [(&[&str], Comparison); 6] = [
        (&["eq", "equalto", "=="], tests::is_eq),
        (&["ne", "!="], tests::is_ne),
        (&["lt", "lessthan", "<"], tests::is_lt),
        (&["le", "<="], tests::is_le),
        (&["gt", "greaterthan", ">"], tests::is_gt),
        (&["ge", ">="], tests::is_ge),
    ];
    for (names, compare) in comparisons {
        for name in names {
            let limits = limits.clone();
            environment.add_test(*name, move |state: &State, left: &Value, right: &Value| {
                pay_to_compare(Meter::new(state, &limits), left, right)?;
                Ok::<bool, Error>(compare(left, right))
            });
        }
    }
    let limits = limits.clone();
    environment.add_test("in", move |state: &State, member: &Value, whole: &Value| {
        let meter = Meter::new(state, &limits);
        pay(meter, member)?;
        pay(meter, whole)?;
        tests::is_in(state, member, whole)
    });
    environment.add_test("startingwith", |text: &Value, affix: &Value| {
        texts(text, affix).map(|(text, affix)| text.starts_with(affix))
    });
    environment.add_test("endingwith", |text: &Value, affix: &Value| {
        texts(text, affix).map(|(text, affix)| text.ends_with(affix))
    });
}

fn texts<'v>(text: &'v Value, affix: &'v Value) -> Result<(&'v str, &'v str), Error> {
    let texts = text.as_str().zip(affix.as_str());
    texts.ok_or_else(|| invalid("expected two strings"))
}

fn install_functions(environment: &mut Environment<'static>, limits: &Limits) {
    let deadline = limits.clone();
    environment.add_function(
        "namespace",
        move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            let meter = Meter::new(state, &deadline);
            // What is too deep or opaque is refused; the rest has been made up before.
            for argument in &arguments {
                for key in argument.try_iter()? {
                    hold(meter, argument.get_item(&key)?)?;
                }
            }
            Value::from_function(functions::namespace).call(state, &arguments)
        },
    );
    let deadline = limits.clone();
    environment.add_function("dict", move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
        let arguments = arguments.into_values();
        let meter = Meter::new(state, &deadline);
        arguments.iter().try_for_each(|argument| pay(meter, argument))?;
        let result = Value::from_function(functions::dict).call(state, &arguments)?;
        hold(Meter::new(state, &deadline), result)
    });
}
