//! Stable text forms of programs, made for snapshots and for people.

use std::fmt::Write;

use minfer_graph::ValueId;

use crate::memory::Place;
use crate::program::{Program, Split, Step};

pub(crate) fn program(program: &Program) -> String {
    let mut text = String::new();
    for (index, split) in program.splits.iter().enumerate() {
        let memory = &split.memory;
        text += &format!(
            "split {index} target={} steps={} arena={} staging={}\n",
            split.target.0,
            split.steps.len(),
            memory.arena_bytes,
            memory.staging_bytes
        );
        text += &list("import", split, &split.imports);
        for step in &split.steps {
            text += &format!("  {}\n", step_line(split, step));
        }
        text += &list("export", split, &split.exports);
    }
    for note in &program.notes {
        let _ = writeln!(text, "note {}: {}", note.node, note.text);
    }
    text
}

pub(crate) fn launches(program: &Program) -> String {
    let mut text = String::new();
    for split in &program.splits {
        for step in &split.steps {
            let launch = &step.launch;
            let node = split.node(step);
            let _ = writeln!(
                text,
                "{} {} {} grid={:?} group={:?} scratch={} why: {}",
                node.name,
                node.op.kind().name(),
                launch.kernel,
                launch.grid,
                launch.group,
                launch.scratch,
                launch.why
            );
        }
    }
    text
}

fn step_line(split: &Split, step: &Step) -> String {
    let node = split.node(step);
    let places =
        |ids: &[ValueId]| ids.iter().map(|&id| place(split, id)).collect::<Vec<_>>().join(" ");
    let mut line = format!("{} {}", node.op.kind().name(), step.launch.kernel);
    if !node.inputs.is_empty() {
        let _ = write!(line, " in: {}", places(&node.inputs));
    }
    if !node.outputs.is_empty() {
        let _ = write!(line, " out: {}", places(&node.outputs));
    }
    if let Some(scratch) = step.scratch {
        let _ = write!(line, " scratch: @{scratch}+{}", step.launch.scratch);
    }
    line + &format!("  # {}", node.name)
}

fn place(split: &Split, id: ValueId) -> String {
    let value = &split.graph.values[id.0 as usize];
    let at = match (value.input, split.memory.place(id)) {
        (Some(input), _) => input.name(),
        (None, Some(Place::Arena(offset))) => format!("@{offset}"),
        (None, Some(Place::Staging(offset))) => format!("staging@{offset}"),
        (None, None) => "elsewhere".into(),
    };
    format!("%{}:{at}", id.0)
}

fn list(what: &str, split: &Split, ids: &[ValueId]) -> String {
    ids.iter()
        .map(|&id| format!("  {what} {} {}\n", place(split, id), split.graph.ty(id)))
        .collect()
}
