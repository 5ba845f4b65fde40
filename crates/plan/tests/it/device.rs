//! A device that computes nothing: it answers with zeros of the right size, writes down what it is
//! asked, and fails where it is told to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use minfer_graph::ValueId;
use minfer_plan::{
    Device, DeviceError, Done, Inputs, Layout, Limit, LoadedSplit, PlacedState, PlacedWeight,
    Region, Split, StateHandle, Target, Ticket,
};

use crate::target::Switches;

/// What devices did, in order.
pub type Log = Arc<Mutex<Vec<String>>>;

/// Where a device fails, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    Load,
    Submit,
    Wait,
    Read,
    /// Reads give so many bytes more or fewer.
    Size(isize),
}

pub struct Fake {
    target: Switches,
    name: &'static str,
    log: Log,
    fault: Fault,
    splits: Vec<Arc<Split>>,
    submits: HashMap<u64, (usize, Arc<Inputs>)>,
    next: u64,
    zeros: Vec<u8>,
}

impl Fake {
    pub fn boxed(name: &'static str, log: &Log, fault: Fault) -> Box<dyn Device> {
        Box::new(Fake {
            target: Switches::new(name),
            name,
            log: log.clone(),
            fault,
            splits: Vec::new(),
            submits: HashMap::new(),
            next: 0,
            zeros: vec![0; 1 << 20],
        })
    }

    fn log(&self, what: String) {
        self.log.lock().unwrap().push(format!("{} {what}", self.name));
    }

    fn fails(&self, at: Fault) -> Result<(), DeviceError> {
        if self.fault != at {
            return Ok(());
        }
        let reason = format!("{at:?} was to fail");
        Err(DeviceError::Failed { device: self.name.into(), reason, recent: Vec::new() })
    }
}

impl Device for Fake {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn weights(
        &mut self,
        _regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Vec<Layout>, DeviceError> {
        Ok(vec![Layout::File; weights.len()])
    }

    fn state(&mut self, _states: &[PlacedState]) -> Result<StateHandle, DeviceError> {
        Ok(StateHandle(0))
    }

    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError> {
        self.fails(Fault::Load)?;
        self.log(format!("load {} steps, state {}", split.steps.len(), state.0));
        self.splits.push(split);
        Ok(LoadedSplit(self.splits.len() as u32 - 1))
    }

    fn submit(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        self.fails(Fault::Submit)?;
        let sizes: Vec<usize> = imports.iter().map(|bytes| bytes.len()).collect();
        self.log(format!("submit {} imports {sizes:?}", split.0));
        self.next += 1;
        self.submits.insert(self.next, (split.0 as usize, inputs));
        Ok(Ticket(self.next))
    }

    fn wait(&mut self, ticket: Ticket, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        self.fails(Fault::Wait)?;
        if (limit.stop)().is_some() {
            return Err(DeviceError::Cancelled);
        }
        self.log(format!("wait {}", ticket.0));
        Ok(Done { ticket: ticket.0, ..Done::default() })
    }

    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError> {
        self.fails(Fault::Read)?;
        let (split, inputs) = &self.submits[&done.ticket];
        let ty = self.splits[*split].graph.ty(value);
        let bytes = ty.rows.live(&inputs.counts()) * ty.row_bytes();
        let more = if let Fault::Size(more) = self.fault { more } else { 0 };
        Ok(&self.zeros[..bytes.saturating_add_signed(more)])
    }

    fn copy_page(
        &mut self,
        _state: StateHandle,
        _group: usize,
        _from: u32,
        _to: u32,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}
