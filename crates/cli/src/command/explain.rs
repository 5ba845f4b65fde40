//! `minfer explain`: which kernel runs each op, where, why, and how many bytes it moves.

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use super::load;
use super::planned::{self, Explained};
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// Launches that are alike: one line.
#[derive(Debug, Serialize)]
struct Line {
    op: &'static str,
    kernel: String,
    device: String,
    why: &'static str,
    launches: usize,
    weight_bytes: u64,
    activation_bytes: u64,
    macs: u64,
}

/// The command.
///
/// # Errors
/// No model, or one that a device cannot run.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let options = load::options(settings)?;
    options.validate()?;
    let file = load::file(settings, style)?;
    let explained = planned::plan(&file, &options, settings.count(&table::STEP_TOKENS))?;
    load::warn(settings, explained.devices.iter(), explained.trained);
    let lines = lines(&explained);
    if settings.on(&table::JSON) {
        let notes = explained.program.notes.iter();
        let notes: Vec<_> =
            notes.map(|note| json!({ "node": note.node, "text": note.text })).collect();
        return output::json(&json!({
            "tokens": explained.counts.tokens,
            "placement": explained.placement,
            "splits": explained.program.splits.len(),
            "launches": lines,
            "notes": notes,
        }));
    }
    output::print(&text(&explained, &lines))
}

/// The launches of a step, alike ones together, in the order in which they first come.
fn lines(explained: &Explained) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for split in &explained.program.splits {
        let device = &explained.devices[split.target.0 as usize];
        for step in &split.steps {
            let node = split.node(step);
            let graph = &split.graph;
            let (inputs, outputs) = (graph.types(&node.inputs), graph.types(&node.outputs));
            let cost = node.op.cost(&inputs, &outputs, &graph.tables, &explained.counts);
            let (op, kernel, why) = (node.op.kind().name(), &step.launch.kernel, step.launch.why);
            let device = device.kind.name();
            let same = |line: &&mut Line| {
                (line.op, &line.kernel, line.why) == (op, kernel, why) && line.device == device
            };
            match lines.iter_mut().find(same) {
                Some(line) => line.add(cost),
                None => {
                    let mut line = Line {
                        op,
                        kernel: kernel.clone(),
                        device: device.into(),
                        why,
                        launches: 0,
                        weight_bytes: 0,
                        activation_bytes: 0,
                        macs: 0,
                    };
                    line.add(cost);
                    lines.push(line);
                }
            }
        }
    }
    lines
}

impl Line {
    fn add(&mut self, cost: minfer_graph::Cost) {
        self.launches += 1;
        self.weight_bytes += cost.weight_bytes;
        self.activation_bytes += cost.activation_bytes;
        self.macs += cost.macs;
    }
}

fn text(explained: &Explained, lines: &[Line]) -> String {
    let mut text = format!(
        "a step of {} token{}: {}\n",
        explained.counts.tokens,
        if explained.counts.tokens == 1 { "" } else { "s" },
        explained.placement
    );
    for device in &explained.devices {
        text += &format!("{}: {} ({})\n", device.kind.name(), device.name, device.features);
    }
    text += &format!(
        "\n{:<15} {:<32} {:<9} {:>8} {:>12} {:>12}  why\n",
        "op", "kernel", "device", "launches", "weights, kB", "others, kB"
    );
    let kilobytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e3);
    for line in lines {
        text += &format!(
            "{:<15} {:<32} {:<9} {:>8} {:>12} {:>12}  {}\n",
            line.op,
            line.kernel,
            line.device,
            line.launches,
            kilobytes(line.weight_bytes),
            kilobytes(line.activation_bytes),
            line.why
        );
    }
    let sum = |of: fn(&Line) -> u64| lines.iter().map(of).sum::<u64>();
    text += &format!(
        "{:<15} {:<32} {:<9} {:>8} {:>12} {:>12}\n",
        "all",
        "",
        "",
        lines.iter().map(|line| line.launches).sum::<usize>(),
        kilobytes(sum(|line| line.weight_bytes)),
        kilobytes(sum(|line| line.activation_bytes))
    );
    // The same decision is made in every layer: it is said once.
    let mut said: Vec<&str> = Vec::new();
    for note in &explained.program.notes {
        if !said.contains(&note.text.as_str()) {
            said.push(&note.text);
            text += &format!("note, first at {}: {}\n", note.node, note.text);
        }
    }
    text
}
