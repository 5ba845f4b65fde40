//! The support report: which target runs which op and format, with which kernel.

use std::fmt::Write;

use minfer_graph::OpKind;
use minfer_plan::{Error, Planned, Target, single_split};
use minfer_quant::Quant;

use crate::case::Case;

/// Markdown tables of all ops, and of matmuls by format, for named targets.
pub fn support(targets: &[(&str, &dyn Target)]) -> String {
    let mut text = String::from("# Support\n\nKernels by op, from what each target answers.\n\n");
    header(&mut text, "op", targets);
    for &op in OpKind::ALL {
        let cases = crate::ops::cases(op);
        row(&mut text, op.name(), targets, |target| {
            cases.first().map(|case| kernel(op, case, target))
        });
    }
    text += "\nMatrix products by weight format and type of the activations.\n\n";
    header(&mut text, "weight", targets);
    for &quant in Quant::ALL {
        let cases = crate::ops::cases(OpKind::Matmul);
        let prefix = format!("matmul.{}.", quant.name());
        let mut operands: Vec<&str> = Vec::new();
        for case in cases.iter().filter(|case| case.name.starts_with(&prefix)) {
            let operand = case.name[prefix.len()..].split('[').next().unwrap_or_default();
            if operands.contains(&operand) {
                continue;
            }
            operands.push(operand);
            let label = format!("{} × {operand}", quant.name());
            row(&mut text, &label, targets, |target| Some(kernel(OpKind::Matmul, case, target)));
        }
    }
    text
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

/// The kernel of the node under test in a case, or the reason for none.
fn kernel(op: OpKind, case: &Case, target: &dyn Target) -> String {
    let Some(step) = case.steps.last() else { return String::new() };
    let planned = Planned { target, layouts: &[] };
    let imports = step.operands.iter().map(|(id, _)| *id).collect();
    match single_split(step.graph.clone(), imports, step.results.clone(), planned) {
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
