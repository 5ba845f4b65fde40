//! Python's behaviour around the template engine: what `transformers` sets up for chat templates,
//! and where minijinja differs from Jinja2.
//!
//! Everything here that reads strings reads them without marks (`marked`) and writes them with.

mod builtins;
mod group;
mod held;
mod json;
mod meter;
mod methods;
mod repr;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State};

use self::meter::Meter;
use crate::marked::{Marks, Text};
use crate::{Limits, Now, clock, source};

/// Longest list that `range` makes, as in Jinja2's sandbox.
const RANGE_MAX: i64 = 100_000;

/// What the template said through `raise_exception`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Raised(pub(crate) String);

/// An environment for one chat template, without what depends on the request.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // In Python a string is a sequence of its characters, a boolean is a number, and Jinja2's
    // undefined value is an empty sequence.
    environment.add_test("iterable", |value: &Value| {
        !matches!(value.kind(), ValueKind::None | ValueKind::Bool | ValueKind::Number)
    });
    environment.add_test("sequence", |value: &Value| {
        matches!(value.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Map)
    });
    environment.add_test("number", |value: &Value| {
        matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
    });
    builtins::remove_others(&mut environment);
    environment
}

/// Adds what depends on the request: marks, time, and whatever pays fuel or asks the deadline.
pub(crate) fn install(
    environment: &mut Environment<'static>,
    marks: Marks,
    now: Now,
    limits: &Limits,
) {
    builtins::install(environment, limits);
    held::install(environment, limits);
    add_filters(environment, marks, limits);
    let deadline = limits.clone();
    environment.set_formatter(move |out, state, value| {
        if value.is_undefined() {
            return Ok(());
        }
        let text = repr::display(Meter::new(state, &deadline), value)?;
        out.write_str(&text).map_err(|_| Error::from(ErrorKind::WriteFailure))
    });
    let deadline = limits.clone();
    environment.set_unknown_method_callback(move |state, value, method, arguments| {
        methods::call(Meter::new(state, &deadline), marks, value, method, arguments)
    });
    let deadline = limits.clone();
    environment.add_function("raise_exception", move |state: &State, message: &Value| {
        let message = repr::display(Meter::new(state, &deadline), message)?;
        let message = Text::parse(&message, marks).plain;
        let error = Error::new(ErrorKind::InvalidOperation, message.clone());
        Err::<Value, Error>(error.with_source(Raised(message)))
    });
    let deadline = limits.clone();
    environment.add_function("strftime_now", move |state: &State, format: &str| {
        // Two characters become a whole date and time at most.
        Meter::new(state, &deadline).charge(format.len().saturating_mul(16))?;
        Ok::<String, Error>(clock::strftime(now, &Text::parse(format, marks).plain))
    });
    let deadline = limits.clone();
    environment.add_function(
        "range",
        move |state: &State, first: i64, end: Option<i64>, step: Option<i64>| {
            range(Meter::new(state, &deadline), first, end, step)
        },
    );
}

fn add_filters(environment: &mut Environment<'static>, marks: Marks, limits: &Limits) {
    let deadline = limits.clone();
    environment.add_filter(
        "tojson",
        move |state: &State, value: &Value, indent: Option<&Value>, kw: Kwargs| {
            json::tojson(Meter::new(state, &deadline), value, indent, &kw, marks)
        },
    );
    let deadline = limits.clone();
    environment.add_filter("string", move |state: &State, value: &Value| {
        let text = repr::display(Meter::new(state, &deadline), value)?;
        Ok::<Value, Error>(text_or_markup(text.into(), value.is_safe()))
    });
    environment.add_filter("length", move |value: &Value| length(value, marks));
    environment.add_filter("count", move |value: &Value| length(value, marks));
    for (filter, method) in [
        ("trim", "strip"),
        ("upper", "upper"),
        ("lower", "lower"),
        ("title", "title"),
        ("capitalize", "capitalize"),
        ("replace", "replace"),
    ] {
        let deadline = limits.clone();
        let keeps_markup = source::MARKUP_KEEPERS.contains(&filter);
        environment.add_filter(filter, move |state: &State, value: &Value, rest: Rest<Value>| {
            let meter = Meter::new(state, &deadline);
            let text = Value::from(repr::display(meter, value)?);
            let changed = methods::call(meter, marks, &text, method, &rest)?;
            Ok::<Value, Error>(text_or_markup(changed, keeps_markup && value.is_safe()))
        });
    }
    for filter in ["escape", "e"] {
        let deadline = limits.clone();
        environment.add_filter(filter, move |state: &State, value: &Value| {
            if value.is_safe() {
                return Ok(value.clone());
            }
            let meter = Meter::new(state, &deadline);
            let text = Value::from(repr::display(meter, value)?);
            let escaped = methods::call(meter, marks, &text, source::ESCAPE, &[])?;
            Ok::<Value, Error>(text_or_markup(escaped, true))
        });
    }
    let deadline = limits.clone();
    environment.add_filter(source::ESCAPE, move |state: &State, value: &Value| {
        if value.kind() != ValueKind::String {
            return Err(invalid(format!("only text can be added to markup, not {}", value.kind())));
        }
        let meter = Meter::new(state, &deadline);
        let escaped = methods::call(meter, marks, value, source::ESCAPE, &[])?;
        Ok::<Value, Error>(text_or_markup(escaped, true))
    });
}

/// A text, noted as escaped already if it is markup.
fn text_or_markup(text: Value, is_markup: bool) -> Value {
    if is_markup { Value::from_safe_string(text.to_string()) } else { text }
}

/// Characters of a string, entries of anything else.
fn length(value: &Value, marks: Marks) -> Result<usize, Error> {
    if let Some(text) = value.as_str() {
        return Ok(text.chars().filter(|c| !marks.contain(*c)).count());
    }
    if value.is_undefined() {
        return Ok(0);
    }
    value.len().ok_or_else(|| invalid(format!("object of type {} has no length", value.kind())))
}

/// Python's `range`, as a list.
fn range(
    meter: Meter,
    first: i64,
    end: Option<i64>,
    step: Option<i64>,
) -> Result<Vec<Value>, Error> {
    let (start, end) = end.map_or((0, first), |end| (first, end));
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(invalid("range() arg 3 must not be zero"));
    }
    let (span, stride) = if step > 0 {
        (i128::from(end) - i128::from(start), i128::from(step))
    } else {
        (i128::from(start) - i128::from(end), -i128::from(step))
    };
    let count = (span + stride - 1).div_euclid(stride).max(0);
    if count > i128::from(RANGE_MAX) {
        return Err(invalid(format!("range of {count} entries; at most {RANGE_MAX} are made")));
    }
    meter.charge((count as usize).saturating_mul(32))?;
    Ok((0..count as i64).map(|i| Value::from(start + i * step)).collect())
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

#[cfg(test)]
mod tests;
