//! Runs one split, launch by launch.

use std::time::Instant;

use minfer_graph::{Input, Value, ValueId};
use minfer_plan::{DeviceError, Inputs, LaunchTime, Limit, Split, Stop};

use crate::memory::Values;
use crate::op::{self, Env};
use crate::real::Real;
use crate::tensor::Tensor;

/// Launches that an error names.
const RECENT: usize = 4;

/// A step's inputs with every token id known.
pub(crate) struct StepInputs<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) tokens: Vec<i32>,
}

impl StepInputs<'_> {
    /// The input as a value. Tables have as many rows as the step brings.
    fn tensor<T: Real>(&self, input: Input, cols: usize) -> Tensor<T> {
        let data = match input {
            Input::Tokens => self.tokens.clone(),
            Input::Positions => self.inputs.positions.clone(),
            Input::OutputRows => self.inputs.output_rows.clone(),
            Input::Slots { group } => self.inputs.groups[group].slots.clone(),
            Input::Pages { group } => self.inputs.groups[group].pages.clone(),
            Input::Work { group } => {
                self.inputs.groups[group].work.iter().flat_map(|work| work.to_row()).collect()
            }
        };
        Tensor::index(cols, data)
    }
}

/// Carries out the split's steps; gives their times when the inputs ask for a profile.
pub(crate) fn run<T: Real>(
    device: &str,
    split: &Split,
    step: &StepInputs<'_>,
    values: &mut impl Values<T>,
    env: &mut Env<'_>,
    limit: &Limit<'_>,
) -> Result<Vec<LaunchTime>, DeviceError> {
    let mut times = Vec::new();
    for (index, launch) in split.steps.iter().enumerate() {
        if let Some(stop) = (limit.stop)() {
            return Err(stopped(device, split, index, stop));
        }
        let node = split.node(launch);
        let start = Instant::now();
        let operand = |id: &ValueId| match &split.graph.values[id.0 as usize] {
            Value { input: Some(input), ty } => step.tensor(*input, ty.cols),
            Value { input: None, .. } => values.get(*id),
        };
        let inputs: Vec<Tensor<T>> = node.inputs.iter().map(operand).collect();
        let outputs = op::run(&node.op, &inputs, env);
        debug_assert_eq!(outputs.len(), node.outputs.len());
        for (&id, output) in node.outputs.iter().zip(outputs) {
            values.set(id, output);
        }
        if step.inputs.profile {
            let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            times.push(LaunchTime { step: index, nanoseconds, encoding: 0 });
        }
    }
    Ok(times)
}

fn stopped(device: &str, split: &Split, next: usize, stop: Stop) -> DeviceError {
    match stop {
        Stop::Cancelled => DeviceError::Cancelled,
        Stop::Deadline => {
            let recent = &split.steps[next.saturating_sub(RECENT)..next];
            let name =
                |step| format!("{} ({})", split.node(step).op.kind().name(), split.node(step).name);
            DeviceError::Deadline {
                device: device.to_string(),
                recent: recent.iter().map(name).collect(),
            }
        }
    }
}
