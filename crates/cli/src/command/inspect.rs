//! `minfer inspect`: a model file, and the stages on its way to the device.

mod model;

use anyhow::{Context as _, Result};
use minfer_engine::{Engine, Stage};
use minfer_gguf::{Array, File, Value as Meta};
use serde_json::{Value, json};

use super::load;
use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::hub::repository::size;
use crate::output::{self, Style};

/// Elements of an array that JSON shows at most.
const ELEMENTS_MAX: usize = 64;

/// The command.
///
/// # Errors
/// No model, or one that cannot be brought to the stage asked for.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let json = settings.on(&table::JSON);
    let dot = settings.on(&table::DOT);
    let stage = settings.text(&table::STAGE).unwrap_or("file");
    if dot && stage != "graph" {
        return Err(usage(format!("--dot draws --stage graph, not {stage}")));
    }
    match stage {
        "file" => {
            let file = load::file(settings, style)?;
            if json {
                output::pretty_json(&file_json(&file))
            } else {
                output::print(&file_text(&file))
            }
        }
        "model" => {
            let mut engine = load::engine(settings, style)?;
            if json {
                output::pretty_json(&model::json(&mut engine)?)
            } else {
                output::print(&model::text(&mut engine)?)
            }
        }
        _program => {
            let mut engine = load::engine(settings, style)?;
            let form = match stage {
                "graph" if dot => Stage::Dot,
                "graph" if json => Stage::Json,
                "graph" => Stage::Graph,
                "program" => Stage::Program,
                _launches => Stage::Launches,
            };
            program(&mut engine, form, json)
        }
    }
}

/// A stage of every bucket; for Graphviz, which takes one graph, of the smallest.
fn program(engine: &mut Engine, form: Stage, json: bool) -> Result<()> {
    let dumps = engine.program_dump(form)?;
    if form == Stage::Dot {
        let first = dumps.first().context("there is no bucket")?;
        return output::print(&first.text);
    }
    if json {
        let rows = dumps.iter().map(|dump| {
            let body = match form {
                Stage::Json => {
                    serde_json::from_str(&dump.text).context("reading the graph's JSON")?
                }
                _text => Value::String(dump.text.clone()),
            };
            let bucket = json!({ "tokens": dump.bucket.tokens, "outputs": dump.bucket.outputs });
            Ok(json!({ "bucket": bucket, "stage": body }))
        });
        return output::json(&rows.collect::<Result<Vec<Value>>>()?);
    }
    for dump in &dumps {
        let bucket = dump.bucket;
        let head = format!("# steps of {} tokens and {} outputs\n", bucket.tokens, bucket.outputs);
        output::print(&(head + &dump.text + "\n"))?;
    }
    Ok(())
}

/// Values of all tensors together.
pub fn parameters(file: &File) -> u64 {
    file.tensors().iter().map(minfer_gguf::Tensor::elements).sum()
}

/// Bytes of all tensors together.
pub fn tensor_bytes(file: &File) -> u64 {
    file.tensors().iter().map(|tensor| tensor.bytes).sum()
}

fn file_text(file: &File) -> String {
    let mut text = format!(
        "GGUF version {}, {} tensors, {:.2} M parameters, {}, {} file{}\n\nmetadata:\n",
        file.header().version,
        file.tensors().len(),
        parameters(file) as f64 / 1e6,
        size(tensor_bytes(file)),
        file.parts().len(),
        if file.parts().len() == 1 { "" } else { "s" },
    );
    for (key, value) in file.metadata().iter() {
        // Templates are long and have lines: one line each here, whole in JSON.
        let shown = value.to_string().replace('\n', "\\n");
        let short: String = shown.chars().take(100).collect();
        let dots = if short.len() < shown.len() { "…" } else { "" };
        text += &format!("  {key} = {short}{dots}\n");
    }
    text += "\ntensors:\n";
    for tensor in file.tensors() {
        let dims: Vec<String> = tensor.dims.iter().map(u64::to_string).collect();
        let (name, quant, dims) = (&tensor.name, tensor.quant.name(), dims.join(" × "));
        text += &format!("  {name:<40} {quant:<7} {dims:>22} {:>12}\n", tensor.bytes);
    }
    text
}

fn file_json(file: &File) -> Value {
    let metadata = file.metadata().iter().map(|(key, value)| (key.to_owned(), metadata(value)));
    let tensors = file.tensors().iter().map(|tensor| {
        json!({
            "name": tensor.name,
            "type": tensor.quant.name(),
            "dims": tensor.dims,
            "bytes": tensor.bytes,
            "part": tensor.part,
            "offset": tensor.offset,
        })
    });
    json!({
        "version": file.header().version,
        "parameters": parameters(file),
        "bytes": tensor_bytes(file),
        "metadata": Value::Object(metadata.collect()),
        "tensors": tensors.collect::<Vec<_>>(),
    })
}

fn metadata(value: &Meta) -> Value {
    match value {
        Meta::Array(array) => elements(array),
        Meta::Bool(value) => (*value).into(),
        Meta::F32(value) => (*value).into(),
        Meta::F64(value) => (*value).into(),
        Meta::U64(value) => (*value).into(),
        other => {
            match (other.integer().and_then(|integer| i64::try_from(integer).ok()), other.text()) {
                (Some(integer), _) => integer.into(),
                (None, Some(text)) => text.into_owned().into(),
                (None, None) => other.to_string().into(),
            }
        }
    }
}

/// An array as JSON: of a long one its beginning.
fn elements(array: &Array) -> Value {
    let shown: Vec<Value> = match array {
        Array::String(strings) => {
            strings.texts().take(ELEMENTS_MAX).map(|text| text.into_owned().into()).collect()
        }
        Array::F32(values) => {
            values.iter().take(ELEMENTS_MAX).map(|value| (*value).into()).collect()
        }
        Array::F64(values) => {
            values.iter().take(ELEMENTS_MAX).map(|value| (*value).into()).collect()
        }
        Array::Bool(values) => {
            values.iter().take(ELEMENTS_MAX).map(|value| (*value).into()).collect()
        }
        other => {
            let integers = other.integers().unwrap_or_default();
            let shown = integers.into_iter().take(ELEMENTS_MAX);
            shown.map(|integer| i64::try_from(integer).map_or(Value::Null, Into::into)).collect()
        }
    };
    if array.len() <= ELEMENTS_MAX {
        return shown.into();
    }
    json!({ "type": array.element_type().name(), "length": array.len(), "first": shown })
}
