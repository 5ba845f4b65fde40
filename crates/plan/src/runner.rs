//! Carries out a program: submits its splits in order, copies what crosses between devices, hands
//! back results.

use std::collections::HashMap;
use std::sync::Arc;

use minfer_graph::{Counts, Graph, OutputKind, ValueId};

use crate::device::{Device, Done, Limit, LoadedSplit, StateHandle, Ticket};
use crate::error::{DeviceError, Error};
use crate::inputs::Inputs;
use crate::program::{Program, Split};

/// A program loaded on its devices. The devices stay with whoever owns them and are passed in:
/// index i is target i.
#[derive(Debug)]
pub struct Runner {
    program: Arc<Program>,
    loaded: Vec<LoadedSplit>,
}

/// A submitted program run.
#[derive(Debug)]
#[must_use = "results are read by waiting"]
pub struct RunTicket {
    first: Ticket,
    inputs: Arc<Inputs>,
}

impl RunTicket {
    /// Number by which a later step's [`crate::TokenInput::From`] can refer to this one.
    pub fn id(&self) -> u64 {
        self.first.0
    }
}

impl Runner {
    /// Loads every split; `states` holds the state of each device.
    pub fn load(
        devices: &mut [Box<dyn Device>],
        program: Arc<Program>,
        states: &[StateHandle],
    ) -> Result<Runner, Error> {
        let loaded = program
            .splits
            .iter()
            .map(|split| {
                let target = split.target.0 as usize;
                devices[target].load(split.clone(), states[target])
            })
            .collect::<Result<_, DeviceError>>()?;
        Ok(Runner { program, loaded })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Submits a step whose inputs have been checked; never waits. Only the first split can start
    /// now: those after it are submitted by [`Runner::wait`] as their imports arrive.
    pub fn submit(
        &self,
        devices: &mut [Box<dyn Device>],
        inputs: Arc<Inputs>,
    ) -> Result<RunTicket, Error> {
        let first = self.program.splits.first().zip(self.loaded.first());
        let (split, loaded) = first.ok_or_else(|| unknown("split", 0))?;
        let device = &mut devices[split.target.0 as usize];
        let first = device.submit(*loaded, inputs.clone(), &[])?;
        Ok(RunTicket { first, inputs })
    }

    /// Runs a submitted step to its end.
    pub fn wait<'d>(
        &self,
        devices: &'d mut [Box<dyn Device>],
        ticket: RunTicket,
        limit: &Limit<'_>,
    ) -> Result<StepOutputs<'d>, Error> {
        let counts = ticket.inputs.counts();
        let splits = &self.program.splits;
        let mut crossing = HashMap::new();
        let mut next = ticket.first;
        let mut done = Vec::with_capacity(splits.len());
        for (index, split) in splits.iter().enumerate() {
            let device = &mut devices[split.target.0 as usize];
            let finished = device.wait(next, limit)?;
            if index + 1 == splits.len() {
                done.push(finished);
                break;
            }
            for &value in &split.exports {
                crossing.insert(value, device.read(&finished, value)?.to_vec());
            }
            done.push(finished);
            let following = &splits[index + 1];
            let imports = imports(following, &crossing, &counts, devices)?;
            let device = &mut devices[following.target.0 as usize];
            next = device.submit(self.loaded[index + 1], ticket.inputs.clone(), &imports)?;
        }
        Ok(StepOutputs { devices, program: self.program.clone(), crossing, done, counts })
    }
}

/// Bytes of a split's imports, each checked against its type at the step's rows.
fn imports<'a>(
    split: &Split,
    crossing: &'a HashMap<ValueId, Vec<u8>>,
    counts: &Counts,
    devices: &[Box<dyn Device>],
) -> Result<Vec<&'a [u8]>, Error> {
    split
        .imports
        .iter()
        .map(|value| {
            let bytes = crossing.get(value).map_or(&[][..], Vec::as_slice);
            let target = devices[split.target.0 as usize].target();
            sized(&split.graph, *value, counts, bytes, &target.caps().name)
        })
        .collect()
}

/// `bytes`, if they are as many as the value has at the step's rows.
fn sized<'b>(
    graph: &Graph,
    value: ValueId,
    counts: &Counts,
    bytes: &'b [u8],
    target: &str,
) -> Result<&'b [u8], Error> {
    let ty = graph.ty(value);
    let expected = ty.rows.live(counts) * ty.row_bytes();
    if bytes.len() == expected {
        return Ok(bytes);
    }
    let (value, target) = (value.0, target.to_string());
    Err(Error::Boundary { value, target, expected, found: bytes.len() })
}

/// Results of a finished step, read in place from the devices that hold them.
pub struct StepOutputs<'d> {
    devices: &'d [Box<dyn Device>],
    program: Arc<Program>,
    crossing: HashMap<ValueId, Vec<u8>>,
    done: Vec<Done>,
    counts: Counts,
}

impl StepOutputs<'_> {
    /// Rows of the step.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// What each split's device reported.
    pub fn done(&self) -> &[Done] {
        &self.done
    }

    /// Logits, one row of the vocabulary's size per output row.
    pub fn logits(&self) -> Result<&[f32], Error> {
        self.typed(OutputKind::Logits)
    }

    /// Ids of the largest logits, one row per output row.
    pub fn ids(&self) -> Result<&[i32], Error> {
        self.typed(OutputKind::Ids)
    }

    /// Logits of those ids.
    pub fn id_logits(&self) -> Result<&[f32], Error> {
        self.typed(OutputKind::IdLogits)
    }

    /// Bytes of any exported value at the step's rows.
    pub fn value(&self, value: ValueId) -> Result<&[u8], Error> {
        if let Some(bytes) = self.crossing.get(&value) {
            return Ok(bytes);
        }
        let mut splits = self.program.splits.iter().zip(&self.done);
        match splits.find(|(split, _)| split.exports.contains(&value)) {
            Some((split, done)) => Ok(self.devices[split.target.0 as usize].read(done, value)?),
            None => Err(unknown("exported value", value.0)),
        }
    }

    fn typed<T: bytemuck::Pod>(&self, kind: OutputKind) -> Result<&[T], Error> {
        let output = self.program.outputs.iter().find(|output| output.kind == kind);
        let output = output.ok_or_else(|| unknown("output of this program", kind as u32))?;
        let bytes = self.value(output.value)?;
        let bytes = sized(&self.program.graph, output.value, &self.counts, bytes, "the host")?;
        bytemuck::try_cast_slice(bytes).map_err(|_| unknown("aligned output", output.value.0))
    }
}

fn unknown(what: &'static str, id: u32) -> Error {
    DeviceError::Unknown { device: "program".into(), what, id: u64::from(id) }.into()
}
