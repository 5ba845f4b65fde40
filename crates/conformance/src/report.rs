//! The support report: which target runs which op and format, with which kernel.

use std::fmt::Write;

use minfer_graph::OpKind;
use minfer_plan::{Error, Launch, Planned, Split, Target, single_split};
use minfer_quant::Quant;

use crate::case::{Case, CaseStep};
use crate::variants::{in_bucket, tight};

/// Markdown tables of all ops, and of those that read weights by format, for named targets.
pub fn support(targets: &[(&str, &dyn Target)]) -> String {
    let mut text = String::from(
        "# Support\n\nKernels by op, from what each target answers; where a step of many rows has \
         others than a short one, both.\n\n",
    );
    header(&mut text, "op", targets);
    for &op in OpKind::ALL {
        let cases = crate::ops::cases(op);
        row(&mut text, op.name(), targets, |target| {
            cases.first().map(|case| kernels(op, case, target))
        });
    }
    text += "\nBy weight format and type of the activations.\n";
    for &op in BY_FORMAT {
        let _ = writeln!(text, "\n## {}\n", op.name());
        header(&mut text, "weight", targets);
        by_format(&mut text, op, targets);
    }
    text
}

/// Ops that read weights of any format.
const BY_FORMAT: &[OpKind] =
    &[OpKind::Embed, OpKind::Matmul, OpKind::GateUp, OpKind::ExpertMatmul, OpKind::ExpertGateUp];

/// A row for each format and type of activations that an op has cases of.
fn by_format(text: &mut String, op: OpKind, targets: &[(&str, &dyn Target)]) {
    let cases = crate::ops::cases(op);
    for &quant in Quant::ALL {
        let prefix = format!("{}.{}", op.name(), quant.name());
        let mut labels: Vec<String> = Vec::new();
        for case in &cases {
            let Some(rest) = case.name.strip_prefix(&prefix) else { continue };
            // `.f32`, `.f32.silu`, or nothing: then activations are f32.
            let operand = rest.split('[').next().unwrap_or_default().split('.').nth(1);
            let label = match operand {
                Some(operand) => format!("{} × {operand}", quant.name()),
                None if rest.starts_with('[') => quant.name().to_owned(),
                None => continue,
            };
            if !labels.contains(&label) {
                row(text, &label, targets, |target| Some(kernels(op, case, target)));
                labels.push(label);
            }
        }
    }
}

/// Rows of a step that has kernels for many.
const MANY: usize = 64;

/// The kernels of a case in its own bucket and in one of many rows.
fn kernels(op: OpKind, case: &Case, target: &dyn Target) -> String {
    let few = kernel(op, &tight(case.clone()), target);
    let many = kernel(op, &in_bucket(case.clone(), MANY), target);
    if few == many { few } else { format!("{few}, {many}") }
}

fn header(text: &mut String, first: &str, targets: &[(&str, &dyn Target)]) {
    let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(text, "| {first} | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(targets.len()));
}

fn row(
    text: &mut String,
    label: &str,
    targets: &[(&str, &dyn Target)],
    answer: impl Fn(&dyn Target) -> Option<String>,
) {
    let cells: Vec<String> =
        targets.iter().map(|(_, target)| answer(*target).unwrap_or_default()).collect();
    let _ = writeln!(text, "| {label} | {} |", cells.join(" | "));
}

/// The launches of all nodes of a case's last step, in order; none where the target refuses one.
pub fn lowered(case: &Case, target: &dyn Target) -> Vec<Launch> {
    let split = case.steps.last().and_then(|step| split(step, target).ok());
    let steps = split.iter().flat_map(|split| &split.steps);
    steps.map(|step| step.launch.clone()).collect()
}

fn split(step: &CaseStep, target: &dyn Target) -> Result<Split, Error> {
    let planned = Planned { target, layouts: &[] };
    let imports = step.operands.iter().map(|(id, _)| *id).collect();
    single_split(step.graph.clone(), imports, step.results.clone(), planned)
}

/// The kernel of the node under test in a case, or the reason for none.
fn kernel(op: OpKind, case: &Case, target: &dyn Target) -> String {
    let Some(step) = case.steps.last() else { return String::new() };
    match split(step, target) {
        Ok(split) => {
            let mut steps = split.steps.iter();
            match steps.find(|step| split.node(step).op.kind() == op) {
                Some(step) => format!("`{}`", step.launch.kernel),
                None => String::new(),
            }
        }
        Err(Error::Unsupported { reason, .. }) => format!("no: {reason}"),
        Err(error) => format!("error: {error}"),
    }
}
