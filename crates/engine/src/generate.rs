//! A request from its prompt to its end in one call.

use crate::engine::Engine;
use crate::error::Error;
use crate::event::{Completion, Event};
use crate::sequence::Request;

impl Engine {
    /// Runs a request to its end; `on_event` gets its news as they come. Other sequences advance
    /// beside it, and their news is given by the next [`Engine::step`].
    ///
    /// # Errors
    /// As [`Engine::submit`] and [`Engine::step`]. A request that fails on its way is a completion
    /// with that reason.
    pub fn generate(
        &mut self,
        request: Request,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Completion, Error> {
        let id = self.submit(request)?;
        let (mut text, mut tokens) = (String::new(), Vec::new());
        let mut others = Vec::new();
        loop {
            let events = match self.step() {
                Ok(events) => events,
                Err(error) => {
                    self.pending.retain(|event| event.sequence() != id);
                    self.pending.splice(0..0, others);
                    return Err(error);
                }
            };
            let mut end = None;
            for event in events {
                if event.sequence() != id {
                    others.push(event);
                    continue;
                }
                on_event(&event);
                match event {
                    Event::Token { id, text: more, .. } => {
                        tokens.push(id);
                        text.push_str(&more);
                    }
                    Event::Finished { reason, stats, .. } => end = Some((reason, stats)),
                }
            }
            if let Some((reason, stats)) = end {
                self.pending.splice(0..0, others);
                return Ok(Completion { text, tokens, reason, stats });
            }
        }
    }
}
