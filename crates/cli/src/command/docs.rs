//! `minfer docs PAGE`: the pages of `docs/generated`, each from the table it describes.

use anyhow::{Result, bail};
use minfer_backend_cpu::{CpuTarget, Isa};
use minfer_backend_metal::{Limits, MetalTarget, Staging};
use minfer_gguf::LIMITS;
use minfer_graph::OpKind;
use minfer_models::arch::ARCHITECTURES;
use minfer_plan::{Device as _, Target};
use minfer_quant::Quant;
use minfer_reference::{Mode, Reference};
use minfer_sample::grammar::limits as grammar;

use crate::flags::pages;
use crate::flags::settings::Settings;
use crate::output::{self, Style};

/// The command.
///
/// # Errors
/// Standard output fails.
pub fn run(settings: &Settings, _style: Style) -> Result<()> {
    let page = match settings.positional("PAGE").first().map(String::as_str).unwrap_or_default() {
        "ops" => ops(),
        "quants" => quants(),
        "models" => models(),
        "support" => support(),
        "flags" => pages::flags(),
        "limits" => limits(),
        other => bail!("no page {other:?}"),
    };
    output::print(&page)
}

fn ops() -> String {
    let mut text = String::from(
        "# Ops\n\nOne file each: `crates/graph/src/op/NAME.rs` says what it computes, \
         `crates/reference/src/op/NAME.rs` is the definition.\n\n\
         | op | kind | cases in conformance |\n|---|---|---|\n",
    );
    for &op in OpKind::ALL {
        let kind = if op.is_composite() { "composite" } else { "primitive" };
        let cases = minfer_conformance::ops::cases(op).len();
        text += &format!("| `{}` | {kind} | {cases} |\n", op.name());
    }
    text
}

fn quants() -> String {
    let mut text = String::from(
        "# Weight formats\n\n| format | GGUF id | values a block | bytes a block | bits a value \
         | encoder |\n|---|---|---|---|---|---|\n",
    );
    for quant in Quant::ALL {
        let (values, bytes) = (quant.block_len(), quant.block_bytes());
        let bits = bytes as f64 * 8.0 / values as f64;
        let encoder = if quant.can_encode() { "yes" } else { "no" };
        let (name, id) = (quant.name(), quant.gguf_id());
        text += &format!("| `{name}` | {id} | {values} | {bytes} | {bits} | {encoder} |\n");
    }
    text
}

fn models() -> String {
    let mut text = String::from(
        "# Architectures\n\nBy `general.architecture` of the file.\n\n\
         | architecture | also called | models |\n|---|---|---|\n",
    );
    for architecture in ARCHITECTURES {
        let aliases = architecture.aliases.join(", ");
        text += &format!("| `{}` | {aliases} | {} |\n", architecture.name, architecture.models);
    }
    text
}

/// Targets are plain values: the page is the same on every machine.
fn support() -> String {
    let reference = Reference::new(Mode::Canonical);
    let cpus: Vec<(String, CpuTarget)> = Isa::ALL
        .iter()
        .map(|isa| (format!("cpu {}", isa.name()), CpuTarget::new(isa.name(), *isa, 1)))
        .collect();
    let mut targets: Vec<(&str, &dyn Target)> = vec![("reference", reference.target())];
    targets.extend(cpus.iter().map(|(name, target)| (name.as_str(), target as &dyn Target)));
    let metal = MetalTarget::new(Limits::apple7("Apple M1"), Staging::Half);
    targets.push(("metal", &metal));
    minfer_conformance::support(&targets)
}

fn limits() -> String {
    let mut text = String::from(
        "# Limits\n\nWhat a file or a request may ask for; beyond one it is refused, with the \
         limit's name.\n\n## GGUF files\n\n| limit | value | counts | why |\n|---|---|---|---|\n",
    );
    for limit in LIMITS {
        text += &format!("| {} | {} | {} | {} |\n", limit.name, limit.value, limit.unit, limit.doc);
    }
    let chat = minfer_chat::Limits::default();
    text += "\n## Vocabularies, templates, grammars\n\n| limit | value |\n|---|---|\n";
    for (name, value) in [
        ("tokens of a vocabulary", minfer_tokenizer::TOKENS_MAX as u64),
        ("bytes of a token's text", minfer_tokenizer::TOKEN_TEXT_BYTES_MAX as u64),
        ("merges of a vocabulary", minfer_tokenizer::MERGES_MAX as u64),
        ("bytes of a template", chat.source_bytes as u64),
        ("nesting of a template's source, with operators", chat.syntax_depth as u64),
        ("steps of a template", chat.fuel),
        ("further steps for each byte of the messages", chat.fuel_per_byte),
        ("steps of a template at most", chat.fuel_max),
        ("nesting of a template and of messages", chat.depth as u64),
        ("bytes of a rendered prompt", chat.output_bytes as u64),
        ("bytes of a grammar", grammar::BYTES_MAX as u64),
        ("nesting of a grammar", grammar::DEPTH_MAX as u64),
        ("rules of a grammar", grammar::RULES_MAX as u64),
        ("repetitions in a grammar", grammar::REPEAT_MAX),
        ("milliseconds to compile a grammar", grammar::COMPILE_TIME_MAX.as_millis() as u64),
    ] {
        text += &format!("| {name} | {value} |\n");
    }
    text
}
