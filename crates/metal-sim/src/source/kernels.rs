//! The kernels of a source: their signatures, the instances of kernel templates, and what Metal
//! asks of their parameters.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::{Attribute, BUILTINS, split, string};
use super::declarations::{Declaration, Shape, Template, close_of_angle, open_of};
use super::lexer::{Kind, Token};
use super::rewrite::spell;
use super::{Fault, Faults, ParameterText, Signature, Slot};

/// Buffers and threadgroup memories that a kernel may have.
const INDICES: u32 = 31;

/// A kernel function.
#[derive(Clone, Debug)]
pub(crate) struct Kernel<'a> {
    /// With its namespaces.
    pub function: String,
    pub host_name: Option<String>,
    pub template: Template,
    pub token: Token<'a>,
    /// `max_total_threads_per_threadgroup`, as an expression.
    pub max_threads: Option<String>,
    pub parameters: Vec<ParameterText>,
}

/// A kernel that a host can name.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    /// What a host calls it.
    pub name: String,
    /// The function, as an expression.
    pub expression: String,
    pub token: Token<'a>,
    /// Index of its kernel.
    pub kernel: usize,
}

/// Kernels and their entries.
#[derive(Debug, Default)]
pub(crate) struct Kernels<'a> {
    pub kernels: Vec<Kernel<'a>>,
    pub entries: Vec<Entry<'a>>,
}

/// Finds them.
pub(crate) fn find<'a>(
    tokens: &[Token<'a>],
    attributes: &[Attribute<'a>],
    declarations: &[Declaration],
    faults: &mut Faults<'_>,
) -> Kernels<'a> {
    let mut found = Kernels::default();
    for declaration in declarations {
        let Shape::Function { name, open, close, body } = declaration.shape else { continue };
        let own: Vec<&Attribute<'a>> = attributes
            .iter()
            .filter(|a| (declaration.start..=open).contains(&a.before) || a.before == close + 1)
            .collect();
        let head = &tokens[declaration.start..name];
        if let Some(stage) = head.iter().find(|t| ["vertex", "fragment", "mesh"].contains(&t.text))
        {
            faults.add(stage, Fault::Unsupported { what: format!("a {} function", stage.text) });
        }
        let is_kernel = is_kernel(head, &own);
        if !is_kernel || body.is_none() {
            continue;
        }
        let function = format!("{}{}", declaration.scope, tokens[name].text);
        let parameters =
            Parameters { tokens, attributes, kernel: tokens[name].text }.read(open, close, faults);
        let threads = named(&own, "max_total_threads_per_threadgroup");
        let kernel = Kernel {
            function: function.clone(),
            host_name: named(&own, "host_name").and_then(|name| string(&name.arguments)),
            template: declaration.template,
            token: tokens[name],
            max_threads: threads.map(|attribute| spell(&attribute.arguments)),
            parameters,
        };
        if kernel.template == Template::None {
            let name = kernel.host_name.clone().unwrap_or_else(|| tokens[name].text.to_owned());
            let kernel = found.kernels.len();
            found.entries.push(Entry {
                name,
                expression: function,
                token: tokens[open - 1],
                kernel,
            });
        }
        found.kernels.push(kernel);
    }
    let instances = declarations.iter().filter(|d| d.template == Template::Instantiation);
    for declaration in instances {
        instance(tokens, attributes, declaration, &mut found, faults);
    }
    found.entries.sort_by_key(|entry| (entry.token.file, entry.token.line, entry.token.column));
    unique_names(&found, faults);
    found
}

fn is_kernel(head: &[Token<'_>], attributes: &[&Attribute<'_>]) -> bool {
    head.iter().any(|token| token.text == "kernel") || named(attributes, "kernel").is_some()
}

fn named<'r, 'a>(attributes: &[&'r Attribute<'a>], name: &str) -> Option<&'r Attribute<'a>> {
    attributes.iter().find(|attribute| attribute.name == name).copied()
}

/// Reads `template [[host_name("x")]] kernel void f<half>(…);`.
fn instance<'a>(
    tokens: &[Token<'a>],
    attributes: &[Attribute<'a>],
    declaration: &Declaration,
    found: &mut Kernels<'a>,
    faults: &mut Faults<'_>,
) {
    let range = declaration.start..declaration.end;
    let own: Vec<&Attribute<'a>> =
        attributes.iter().filter(|attribute| range.contains(&attribute.before)).collect();
    let host_name = named(&own, "host_name").and_then(|name| string(&name.arguments));
    if host_name.is_none() && !is_kernel(&tokens[range.clone()], &own) {
        return;
    }
    let Some(first) = tokens.get(declaration.start) else { return };
    let Some((name, end)) = instance_name(tokens, range) else {
        faults.add(first, Fault::Instance);
        return;
    };
    let mut start = name;
    while start >= 2 && tokens[start - 1].text == "::" {
        start -= 2;
    }
    let expression = format!("{}{}", declaration.scope, spell(&tokens[start..end]));
    // An inner namespace may instantiate a template of an outer one.
    let written = spell(&tokens[start..=name]);
    let mut scope = declaration.scope.as_str();
    let kernel = loop {
        let function = format!("{scope}{written}");
        if let Some(kernel) = found.kernels.iter().position(|kernel| kernel.function == function) {
            break kernel;
        }
        if scope.is_empty() {
            let name = written;
            faults.add(&tokens[start], Fault::NoTemplate { name });
            return;
        }
        let outer = scope.trim_end_matches("::").rfind("::").map_or(0, |at| at + 2);
        scope = &scope[..outer];
    };
    let name = host_name.unwrap_or_else(|| tokens[name].text.to_owned());
    found.entries.push(Entry { name, expression, token: *first, kernel });
}

/// Index of an instance's name, and the end of its template arguments.
fn instance_name(tokens: &[Token<'_>], range: std::ops::Range<usize>) -> Option<(usize, usize)> {
    let last = range.end.checked_sub(1).filter(|last| *last >= range.start)?;
    let end = if tokens[last].text == ")" { open_of(tokens, last)? } else { range.end };
    let angle = end.checked_sub(1).filter(|at| tokens[*at].text == ">")?;
    let open = open_of(tokens, angle)?;
    let name = open.checked_sub(1).filter(|at| tokens[*at].kind == Kind::Word)?;
    (name >= range.start).then_some((name, end))
}

fn unique_names(found: &Kernels<'_>, faults: &mut Faults<'_>) {
    let mut names = BTreeSet::new();
    for entry in &found.entries {
        if !names.insert(&entry.name) {
            faults.add(&entry.token, Fault::SameName { name: entry.name.clone() });
        }
    }
}

/// Reads the parameters of one kernel.
struct Parameters<'t, 'a> {
    tokens: &'t [Token<'a>],
    attributes: &'t [Attribute<'a>],
    kernel: &'t str,
}

impl<'a> Parameters<'_, 'a> {
    fn read(&self, open: usize, close: usize, faults: &mut Faults<'_>) -> Vec<ParameterText> {
        let mut parameters = Vec::new();
        let mut start = open + 1;
        for part in split(&self.tokens[open + 1..close], ",") {
            let end = start + part.len();
            if part.first().is_some_and(|token| !(part.len() == 1 && token.text == "void")) {
                parameters.extend(self.parameter(start, end, faults));
            }
            start = end + 1;
        }
        number(&mut parameters);
        self.unique(open, &parameters, faults);
        self.same_width(open, &parameters, faults);
        parameters
    }

    fn parameter(
        &self,
        start: usize,
        end: usize,
        faults: &mut Faults<'_>,
    ) -> Option<ParameterText> {
        let part = &self.tokens[start..end];
        let (name, kind) = declared(part);
        let mut binding = None;
        let mut optional = None;
        for attribute in self.attributes.iter().filter(|a| (start..=end).contains(&a.before)) {
            let index = || Some(spell(&attribute.arguments));
            match attribute.name {
                "buffer" => binding = Some(Slot::Buffer(index())),
                "threadgroup" => binding = Some(Slot::Threadgroup(index())),
                "function_constant" => optional = index(),
                name => {
                    let known = BUILTINS.iter().find(|(builtin, _)| *builtin == name);
                    if let Some((builtin, value)) = known {
                        self.builtin_type(&attribute.token, builtin, &kind, faults);
                        binding = Some(Slot::Builtin { attribute: builtin, value });
                    }
                }
            }
        }
        let has = |text: &str| part.iter().any(|token| token.text == text);
        if binding.is_none() && (has("*") || has("&")) {
            binding = Some(match has("threadgroup") {
                true => Slot::Threadgroup(None),
                false => Slot::Buffer(None),
            });
        }
        let Some(binding) = binding else {
            // What is unsupported or unknown has been said already.
            let said = self.attributes.iter().any(|a| (start..=end).contains(&a.before));
            if !said {
                let kernel = self.kernel.to_owned();
                faults.add(&part[part.len() - 1], Fault::NoAttribute { name, kernel });
            }
            return None;
        };
        self.range(&part[part.len() - 1], &binding, faults);
        Some(ParameterText { name, kind, binding, optional })
    }

    /// The types that Metal allows for a built-in value.
    fn builtin_type(
        &self,
        at: &Token<'_>,
        attribute: &'static str,
        kind: &str,
        faults: &mut Faults<'_>,
    ) {
        let plain = kind.trim_start_matches("const ").trim_start_matches("metal::");
        let letters = plain.trim_end_matches(|c: char| c.is_ascii_digit());
        let width = &plain[letters.len()..];
        let scalars = ["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];
        let known = scalars.contains(&letters) || ["float", "half", "size_t"].contains(&letters);
        let unsigned = ["uint", "ushort"].contains(&letters);
        let vector = attribute.contains("_in_grid") && attribute.contains("position")
            || attribute == "thread_position_in_threadgroup"
            || attribute.ends_with("threads_per_threadgroup")
            || attribute.ends_with("_per_grid")
            || attribute == "grid_origin";
        let fits = unsigned && (width.is_empty() || vector && ["2", "3"].contains(&width));
        if known && !fits {
            let expected = if vector {
                "ushort, uint, or a vector of 2 or 3 of them"
            } else {
                "ushort or uint"
            };
            let found = kind.to_owned();
            faults.add(at, Fault::BuiltinType { attribute, expected, found });
        }
    }

    fn range(&self, at: &Token<'_>, binding: &Slot, faults: &mut Faults<'_>) {
        let (what, index) = match binding {
            Slot::Buffer(Some(index)) => ("buffer", index),
            Slot::Threadgroup(Some(index)) => ("threadgroup", index),
            _ => return,
        };
        if index.parse::<u32>().is_ok_and(|index| index >= INDICES) {
            faults.add(at, Fault::IndexRange { what, index: index.clone(), limit: INDICES - 1 });
        }
    }

    fn unique(&self, open: usize, parameters: &[ParameterText], faults: &mut Faults<'_>) {
        let mut taken = BTreeMap::new();
        for parameter in parameters {
            let key = match &parameter.binding {
                Slot::Buffer(Some(index)) => ("buffer", index),
                Slot::Threadgroup(Some(index)) => ("threadgroup", index),
                _ => continue,
            };
            if let Some(other) = taken.insert(key, &parameter.name) {
                let fault = Fault::SameIndex {
                    what: key.0,
                    index: key.1.clone(),
                    first: other.clone(),
                    second: parameter.name.clone(),
                };
                // Parameters under one condition and its opposite may share an index.
                if parameter.optional.is_none() {
                    faults.add(&self.tokens[open - 1], fault);
                }
            }
        }
    }

    /// Positions and sizes of one kernel have one number of dimensions.
    fn same_width(&self, open: usize, parameters: &[ParameterText], faults: &mut Faults<'_>) {
        let mut widths = BTreeMap::new();
        for parameter in parameters {
            let Slot::Builtin { attribute, .. } = parameter.binding else { continue };
            let dimensions = attribute.contains("position_in") || attribute.ends_with("_per_grid");
            let dimensions = dimensions || attribute.ends_with("threads_per_threadgroup");
            let letters = parameter.kind.trim_end_matches(|c: char| c.is_ascii_digit());
            if dimensions && (letters.ends_with("uint") || letters.ends_with("ushort")) {
                widths.insert(&parameter.kind[letters.len()..], parameter);
            }
        }
        let mut widths = widths.into_values();
        if let (Some(first), Some(second)) = (widths.next(), widths.next()) {
            let describe = |p: &ParameterText| format!("{} {}", p.kind, p.name);
            let fault = Fault::Widths { first: describe(first), second: describe(second) };
            faults.add(&self.tokens[open - 1], fault);
        }
    }
}

/// Name and type of a parameter.
fn declared(part: &[Token<'_>]) -> (String, String) {
    let mut name = None;
    let mut at = 0;
    while at < part.len() {
        match part[at].text {
            "<" => at = close_of_angle(part, at).unwrap_or(at),
            "[" => break,
            _ if part[at].kind == Kind::Word => name = Some(at),
            _ => {}
        }
        at += 1;
    }
    let qualifiers = ["const", "device", "constant", "threadgroup", "thread", "volatile"];
    let types = part.iter().filter(|t| t.kind == Kind::Word && !qualifiers.contains(&t.text));
    let closes = |at: usize| part.get(at + 1).is_none_or(|next| ["[", ")"].contains(&next.text));
    match name {
        Some(at) if closes(at) && types.count() > 1 => {
            let rest: Vec<_> = [&part[..at], &part[at + 1..]].concat();
            (part[at].text.to_owned(), spell(&rest))
        }
        _ => (String::new(), spell(part)),
    }
}

/// Gives parameters without an index the next free one, in order.
fn number(parameters: &mut [ParameterText]) {
    for buffers in [true, false] {
        let index_of = |binding: &mut Slot| match binding {
            Slot::Buffer(index) if buffers => Some(std::mem::take(index)),
            Slot::Threadgroup(index) if !buffers => Some(std::mem::take(index)),
            _ => None,
        };
        let mut taken: BTreeSet<u32> = BTreeSet::new();
        let mut indices = Vec::new();
        for (at, parameter) in parameters.iter_mut().enumerate() {
            if let Some(index) = index_of(&mut parameter.binding) {
                taken.extend(index.as_ref().and_then(|index| index.parse::<u32>().ok()));
                indices.push((at, index));
            }
        }
        for (at, index) in indices {
            let index = index.unwrap_or_else(|| {
                let free = (0..).find(|index| !taken.contains(index)).unwrap_or(0);
                taken.insert(free);
                free.to_string()
            });
            parameters[at].binding = match buffers {
                true => Slot::Buffer(Some(index)),
                false => Slot::Threadgroup(Some(index)),
            };
        }
    }
}

impl Kernels<'_> {
    /// Whether the name of a function is that of a kernel.
    pub(crate) fn has(&self, name: &Token<'_>) -> bool {
        let same = |token: &Token<'_>| std::ptr::eq(token.text, name.text);
        self.kernels.iter().any(|kernel| same(&kernel.token))
    }

    /// What a host sees of each entry.
    pub(crate) fn signatures(&self, faults: &Faults<'_>) -> Vec<Signature> {
        let signature = |entry: &Entry<'_>| {
            let kernel = &self.kernels[entry.kernel];
            Signature {
                name: entry.name.clone(),
                place: faults.place(&entry.token),
                max_threads: kernel.max_threads.clone(),
                parameters: kernel.parameters.clone(),
            }
        };
        self.entries.iter().map(signature).collect()
    }
}
