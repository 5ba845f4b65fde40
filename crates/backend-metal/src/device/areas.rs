//! Memory of steps: one arena for all of them, and for each step in flight a staging area and its
//! inputs.

use minfer_plan::{IN_FLIGHT, Memory};

use super::inputs::InputArea;
use crate::sys::{Buffer, Gpu};

#[derive(Default)]
pub(super) struct Areas {
    pub(super) arena: Option<Buffer>,
    pub(super) staging: [Option<Buffer>; IN_FLIGHT],
    pub(super) inputs: [InputArea; IN_FLIGHT],
}

fn len(buffer: Option<&Buffer>) -> usize {
    buffer.map_or(0, Buffer::len)
}

impl Areas {
    /// Makes them large enough for one more split; fails with what could not be had. Steps on their
    /// way keep the old ones, and what can still be read moves along.
    pub(super) fn grow(&mut self, gpu: &Gpu, memory: &Memory) -> Result<(), (&'static str, usize)> {
        let bytes = memory.arena_bytes;
        if len(self.arena.as_ref()) < bytes {
            self.arena = Some(gpu.buffer(bytes).ok_or(("arena", bytes))?);
        }
        let bytes = memory.staging_bytes;
        for slot in &mut self.staging {
            if len(slot.as_ref()) >= bytes {
                continue;
            }
            let mut larger = gpu.buffer(bytes).ok_or(("staging area", bytes))?;
            if let Some(old) = slot.as_ref() {
                larger.write(0, old.bytes(0..old.len()).unwrap_or_default());
            }
            *slot = Some(larger);
        }
        Ok(())
    }

    /// The large ones.
    pub(super) fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.staging.iter().chain([&self.arena]).flatten()
    }
}
