//! The tables behind the kernels' text, by which a runtime finds and calls them.

use super::Slot;
use super::declarations::Template;
use super::kernels::{Entry, Kernel, Kernels};
use super::rewrite::Constant;
use crate::Place;

/// Name of the generated lines in messages of the compiler.
pub(crate) const FILE: &str = "<kernel tables>";

/// The line there of the first kernel; each has one, so that messages can be moved to its place.
pub(crate) const FIRST_LINE: u32 = 2;

/// Writes them.
pub(crate) fn write(
    kernels: &Kernels<'_>,
    constants: &[Constant],
    place: impl Fn(&Entry<'_>) -> Place,
) -> String {
    let mut text = format!("# 1 \"{FILE}\"\n#include \"msl/wrap.h\"\n");
    for (number, entry) in kernels.entries.iter().enumerate() {
        text.push_str(&wrapper(number, &entry.expression, &kernels.kernels[entry.kernel]));
    }
    // A check of types needs the wrappers alone.
    text.push_str("#ifndef MSIM_STRICT\nstatic const msim_kernel msim_kernels[] = {\n");
    for (number, entry) in kernels.entries.iter().enumerate() {
        let place = place(entry);
        let kernel = &kernels.kernels[entry.kernel];
        text.push_str(&format!(
            "  {{\"{}\", \"{}\", {}, msim_u32({}), msim_wrap_{number}::call, \
             msim_wrap_{number}::body(), msim_wrap_{number}::parameters, \
             msim_wrap_{number}::count}},\n",
            escape(&entry.name),
            escape(&place.file),
            place.line,
            max_threads(kernel),
        ));
    }
    text.push_str("  {}};\nstatic const msim_constant msim_constants[] = {\n");
    for Constant { name, scope, index, kind } in constants {
        text.push_str(&format!(
            "  {{msim_u32({index}), sizeof({scope}msim_value_{name}), \"{name}\", \"{}\", \
             &{scope}msim_value_{name}, &{scope}msim_is_set_{name}}},\n",
            escape(kind),
        ));
    }
    let (kernels, constants) = (kernels.entries.len(), constants.len());
    text.push_str(&format!("  {{}}}};\nMSIM_LIBRARY({kernels}, {constants})\n#endif\n"));
    text
}

fn wrapper(number: usize, expression: &str, kernel: &Kernel<'_>) -> String {
    let mut slots = Vec::new();
    for parameter in &kernel.parameters {
        let none = String::new();
        let (kind, index) = match &parameter.binding {
            Slot::Buffer(index) => ("MSIM_P_BUFFER", index.as_ref().unwrap_or(&none)),
            Slot::Threadgroup(index) => ("MSIM_P_THREADGROUP", index.as_ref().unwrap_or(&none)),
            Slot::Builtin { value, .. } => ("MSIM_P_BUILTIN", &(*value).to_owned()),
        };
        slots.push(format!("{{{kind}, msim_u32({index}), \"{}\"}}", escape(&parameter.name)));
    }
    if slots.is_empty() {
        slots.push("{0, 0, nullptr}".to_owned());
    }
    let slots = slots.join(", ");
    format!(
        "static constexpr msim_slot msim_slots_{number}[] = {{{slots}}}; \
         using msim_wrap_{number} = \
         msim_wrap<decltype(&{expression}), &{expression}, msim_slots_{number}>; \
         static_assert(sizeof(msim_wrap_{number}::table) > 0);\n"
    )
}

/// An expression over a template's parameters has no value out here.
fn max_threads<'k>(kernel: &'k Kernel<'_>) -> &'k str {
    match &kernel.max_threads {
        Some(threads) if kernel.template == Template::None => threads,
        Some(threads) if threads.parse::<u32>().is_ok() => threads,
        _ => "0",
    }
}

/// Text for between the quotes of a C string.
pub(crate) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
