//! The template: compiled once, rendered for each request.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::rc::Rc;

use minijinja::value::Value;
use minijinja::{Environment, ErrorKind};
use serde_json::Value as Json;

use crate::control::ControlTexts;
use crate::marked::Marks;
use crate::provenance::{Marker, Marking, Rendered, compare, is_known_role, visit_strings};
use crate::python::{self, Raised};
use crate::request::{Message, Request, SpecialTokens};
use crate::{Error, Limits, source};

/// Names that a request's arguments may not take.
const RESERVED: [&str; 11] = [
    "messages",
    "tools",
    "add_generation_prompt",
    "raise_exception",
    "strftime_now",
    "namespace",
    "range",
    "bos_token",
    "eos_token",
    "pad_token",
    "unk_token",
];

/// The one template of the environment.
const NAME: &str = "chat";

/// Turns of `<|im_start|>role … <|im_end|>`, the most common format.
const CHATML: &str = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + \
     message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}\
     {% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// A compiled chat template with the special tokens of its model.
#[derive(Debug, Clone)]
pub struct Template {
    environment: Environment<'static>,
    source: String,
    constants: HashSet<String>,
    tokens: SpecialTokens,
}

impl Template {
    /// Compiles a Jinja chat template (GGUF: `tokenizer.chat_template`).
    ///
    /// # Errors
    /// [`Error::SourceTooLong`] over the default of [`Limits::source_bytes`],
    /// [`Error::SyntaxTooDeep`] over that of [`Limits::syntax_depth`], [`Error::Syntax`].
    pub fn new(source: &str, tokens: SpecialTokens) -> Result<Template, Error> {
        Template::with_limits(source, tokens, &Limits::default())
    }

    /// [`Template::new`] with other limits of the source's length and depth.
    ///
    /// # Errors
    /// As [`Template::new`].
    pub fn with_limits(
        source: &str,
        tokens: SpecialTokens,
        limits: &Limits,
    ) -> Result<Template, Error> {
        if source.len() > limits.source_bytes {
            let (bytes, limit) = (source.len(), limits.source_bytes);
            return Err(Error::SourceTooLong { bytes, limit });
        }
        let mut environment = python::environment();
        let rewritten = source::for_engine(source, limits.syntax_depth)?;
        environment.add_template_owned(NAME, rewritten).map_err(|error| Error::Syntax {
            line: error.line().unwrap_or(1),
            message: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
        })?;
        Ok(Template {
            environment,
            source: source.to_owned(),
            constants: source::constants(source),
            tokens,
        })
    }

    /// The generic ChatML template, for files that bring none.
    pub fn chatml() -> Template {
        Template::new(CHATML, SpecialTokens::default()).expect("the built-in template parses")
    }

    /// The Jinja source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Renders a request to the pieces of a prompt. `control` holds the texts of the vocabulary's
    /// control tokens; user-supplied strings (all but well-known roles) form none in a trusted
    /// piece.
    ///
    /// # Errors
    /// [`Error::Message`] and [`Error::ReservedArgument`] for a request that is not well-formed,
    /// [`Error::Raised`] and [`Error::Render`] from the template, the limits' errors, and
    /// [`Error::Ambiguous`].
    pub fn render(
        &self,
        request: &Request,
        limits: &Limits,
        control: &ControlTexts,
    ) -> Result<Rendered, Error> {
        let strings = self.check(request, limits)?;
        let fuel = limits.fuel_for(strings.iter().map(|text| text.len()).sum());
        let tokens = self.tokens.iter().map(|(_, text)| text);
        let others = tokens.chain([self.source.as_str()]);
        let marks = Marks::absent_from(strings.iter().copied().chain(others))
            .ok_or(Error::NoFreeCharacters)?;
        let render = |marking| {
            let marker = Marker::new(marking, marks, &self.constants, control);
            self.render_marked(request, limits, fuel, marker)
        };
        let plain = render(Marking::Plain)?;
        if control.is_empty() {
            return Ok(Rendered::cut(&plain, &[], control));
        }
        for marking in [Marking::Whole, Marking::Fragments] {
            match render(marking) {
                Ok(marked) => {
                    if let Some(user) = compare(&plain, &marked, marks) {
                        return Ok(Rendered::cut(&plain, &user, control));
                    }
                }
                // A template may fail on marks alone, for instance where it parses a number.
                Err(Error::Render { .. } | Error::Raised { .. }) => {}
                Err(limit) => return Err(limit),
            }
        }
        Err(Error::Ambiguous)
    }

    /// Checks the request's shape and collects its strings.
    fn check<'r>(&self, request: &'r Request, limits: &Limits) -> Result<Vec<&'r str>, Error> {
        let mut strings = Vec::new();
        let mut visit = |value: &'r Json| {
            let shallow = visit_strings(value, limits.depth, &mut |text| strings.push(text));
            if shallow { Ok(()) } else { Err(Error::TooDeep { limit: limits.depth }) }
        };
        for (index, message) in request.messages.iter().enumerate() {
            message.check(index)?;
            message.fields().values().try_for_each(&mut visit)?;
        }
        request.tools.iter().flatten().try_for_each(&mut visit)?;
        for (name, value) in &request.arguments {
            if RESERVED.contains(&name.as_str()) {
                return Err(Error::ReservedArgument { name: name.clone() });
            }
            visit(value)?;
        }
        strings.extend(request.arguments.keys().map(String::as_str));
        for message in &request.messages {
            strings.extend(message.fields().keys().map(String::as_str));
        }
        Ok(strings)
    }

    /// One render with one way of marking.
    fn render_marked(
        &self,
        request: &Request,
        limits: &Limits,
        fuel: u64,
        mut marker: Marker<'_>,
    ) -> Result<String, Error> {
        let variables = self.variables(request, &mut marker);
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(fuel));
        environment.set_recursion_limit(limits.depth);
        python::install(&mut environment, marker.marks, request.now, limits);
        let output = Rc::new(RefCell::new(Output { bytes: Vec::new(), full: false }));
        let result = environment.get_template(NAME).and_then(|template| {
            template.render_captured_to(variables, Writer { output: output.clone(), limits })
        });
        let result = result.map(drop);
        if limits.has_expired() {
            return Err(Error::Expired);
        }
        let output = output.take();
        if output.full {
            return Err(Error::OutputTooLong { limit: limits.output_bytes });
        }
        result.map_err(|error| explain(&error, limits, fuel))?;
        Ok(String::from_utf8_lossy(&output.bytes).into_owned())
    }

    fn variables(&self, request: &Request, marker: &mut Marker<'_>) -> Value {
        let list = |items: Vec<Value>| Value::from(items);
        let mut variables: Vec<(String, Value)> = vec![("documents".into(), Value::from(()))];
        for (name, value) in &request.arguments {
            variables.push((name.clone(), json_value(value, marker)));
        }
        for (name, text) in self.tokens.iter() {
            variables.push((name.into(), text.into()));
        }
        let messages = request.messages.iter().map(|m| message_value(m, marker)).collect();
        variables.push(("messages".into(), list(messages)));
        let tools = request.tools.as_ref().map_or(Value::from(()), |tools| {
            list(tools.iter().map(|tool| json_value(tool, marker)).collect())
        });
        variables.push(("tools".into(), tools));
        variables.push(("add_generation_prompt".into(), request.add_generation_prompt.into()));
        Value::from_pairs(variables)
    }
}

fn message_value(message: &Message, marker: &mut Marker<'_>) -> Value {
    let fields = message.fields().iter().map(|(key, value)| {
        let value = match value {
            Json::String(role) if key == "role" && is_known_role(role) => Value::from(role),
            other => json_value(other, marker),
        };
        (Value::from(marker.key(key)), value)
    });
    Value::from_pairs(fields)
}

/// JSON to a template value, strings marked. The depth has been checked before.
fn json_value(value: &Json, marker: &mut Marker<'_>) -> Value {
    match value {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => {
            if let Some(value) = number.as_i64() {
                Value::from(value)
            } else if let Some(value) = number.as_u64() {
                Value::from(value)
            } else {
                Value::from(number.as_f64().unwrap_or(f64::NAN))
            }
        }
        Json::String(text) => Value::from(marker.value(text)),
        Json::Array(items) => {
            Value::from(items.iter().map(|item| json_value(item, marker)).collect::<Vec<_>>())
        }
        Json::Object(fields) => {
            let pairs = fields
                .iter()
                .map(|(key, item)| (Value::from(marker.key(key)), json_value(item, marker)));
            Value::from_pairs(pairs)
        }
    }
}

#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    full: bool,
}

/// Collects the prompt and stops the render at its limits.
struct Writer<'l> {
    output: Rc<RefCell<Output>>,
    limits: &'l Limits,
}

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut output = self.output.borrow_mut();
        output.full |= bytes.len() > self.limits.output_bytes.saturating_sub(output.bytes.len());
        if output.full || self.limits.has_expired() {
            return Err(io::ErrorKind::Other.into());
        }
        output.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Finds the cause of a failed render.
fn explain(error: &minijinja::Error, limits: &Limits, fuel: u64) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(Raised(message)) = inner.downcast_ref() {
            return Error::Raised { message: message.clone() };
        }
        if let Some(inner) = inner.downcast_ref::<minijinja::Error>() {
            if inner.kind() == ErrorKind::OutOfFuel {
                return Error::OutOfFuel { fuel };
            }
            if inner.detail() == Some("recursion limit exceeded") {
                return Error::TooDeep { limit: limits.depth };
            }
        }
        cause = inner.source();
    }
    let message = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    Error::Render { line: error.line().unwrap_or(1), message }
}
