//! `MTLBlitCommandEncoder`: copies and fills of buffers.

use super::buffer::Buffer;
use super::command_buffer::CommandBuffer;
use super::execute::{Operation, Span};
use super::label::{Label, labelled};
use crate::objc::abi::Range;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id};
use crate::objc::reports::{Rule, report};
use std::sync::{Arc, Mutex, PoisonError};

class!(BLIT_ENCODER, BLIT_ENCODER_META, "MetalSimBlitCommandEncoder", None, declare);

/// A blit encoder.
pub(super) struct BlitEncoder {
    buffer: Arc<CommandBuffer>,
    label: Label,
    /// None once it has ended.
    operations: Mutex<Option<Vec<Operation>>>,
}

impl Body for BlitEncoder {
    fn class() -> &'static Class {
        &BLIT_ENCODER
    }

    fn released(&self) {
        if self.operations.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            report(Rule::Encoder, "a blit encoder was released without endEncoding");
        }
    }
}

impl BlitEncoder {
    pub(super) fn new(buffer: Arc<CommandBuffer>) -> Self {
        Self { buffer, label: Label::default(), operations: Mutex::new(Some(Vec::new())) }
    }

    fn record(&self, call: &str, operation: Option<Operation>) {
        let mut operations = self.operations.lock().unwrap_or_else(PoisonError::into_inner);
        match (operations.as_mut(), operation) {
            (Some(operations), Some(operation)) => operations.push(operation),
            (Some(_), None) => {}
            (None, _) => report(Rule::Encoder, format!("{call} after endEncoding")),
        }
    }

    fn end(&self) {
        let ended = self.operations.lock().unwrap_or_else(PoisonError::into_inner).take();
        match ended {
            Some(operations) => self.buffer.close_encoder(operations),
            None => report(Rule::Encoder, "endEncoding after endEncoding"),
        }
    }
}

/// A part of a buffer argument; a report and none where it reaches past the end.
fn span(call: &str, buffer: Id, range: Range) -> Option<Span> {
    let buffer = buffer.get::<Buffer>(call)?;
    let (offset, length) = (range.location, range.length);
    if range.end_within(buffer.memory.len()).is_none() {
        let what = buffer.describe();
        report(Rule::Argument, format!("{call}: {length} bytes from {offset} of {what}"));
        return None;
    }
    Some(Span { buffer, offset, length })
}

fn declare(table: &mut Methods) {
    labelled!(table, BlitEncoder);
    methods! { table, BlitEncoder;
        c"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:" = |
            encoder, source: Id, from: usize, target: Id, to: usize, length: usize
        | {
            let source = span("copyFromBuffer", source, Range { location: from, length });
            let target = span("toBuffer", target, Range { location: to, length });
            let both = source.zip(target);
            let copy = both.map(|(source, target)| Operation::Copy { source, target });
            encoder.record("copyFromBuffer:", copy);
        }
        c"fillBuffer:range:value:" = |encoder, target: Id, range: Range, value: u8| {
            let target = span("fillBuffer", target, range);
            encoder.record("fillBuffer:", target.map(|target| Operation::Fill { target, value }));
        }
        c"endEncoding" = |encoder| { encoder.end(); }
        c"pushDebugGroup:" = |_encoder, _name: Id| {}
        c"popDebugGroup" = |_encoder| {}
    }
}
