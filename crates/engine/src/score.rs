//! Logits of a given text, position by position.

use minfer_graph::Counts;
use minfer_plan::{Inputs, Limit, StepOutputs};

use crate::batch::{self, StepRows};
use crate::engine::Engine;
use crate::error::Error;
use crate::kv::Tables;
use crate::step::check_faults;

/// Receives a position and the logits after it.
pub type LogitsSink<'a> = dyn FnMut(usize, &[f32]) + 'a;

impl Engine {
    /// Logits after each position from `from` on. The prefix cache is neither used nor filled.
    ///
    /// # Errors
    /// As [`Engine::score_chunked`].
    pub fn score(
        &mut self,
        tokens: &[u32],
        from: usize,
        sink: &mut LogitsSink<'_>,
    ) -> Result<(), Error> {
        self.score_chunked(tokens, self.options.batch, &|position| position >= from, sink)
    }

    /// Logits after each position that is `wanted`, computed in steps of at most `chunk` tokens and
    /// as many rows of logits as a step has.
    ///
    /// # Errors
    /// Tokens that do not fit the context or the vocabulary, a chunk of 0, no free pages beside
    /// running sequences, a device that fails (running sequences fail with it).
    pub fn score_chunked(
        &mut self,
        tokens: &[u32],
        chunk: usize,
        wanted: &dyn Fn(usize) -> bool,
        sink: &mut LogitsSink<'_>,
    ) -> Result<(), Error> {
        self.check_text(tokens, chunk)?;
        let vocabulary = self.model.config().vocabulary;
        let mut tables = Tables::default();
        let mut start = 0;
        let mut result = Ok(());
        while start < tokens.len() && result.is_ok() {
            let (end, outputs) = self.cut(start, tokens.len(), chunk, wanted);
            let rows = (start..end, &outputs[..]);
            result = self.run_text(&mut tables, tokens, rows, false, &mut |_, results| {
                if outputs.is_empty() {
                    return Ok(());
                }
                let logits = results.logits()?.chunks_exact(vocabulary);
                outputs.iter().zip(logits).for_each(|(position, row)| sink(*position, row));
                Ok(())
            });
            start = end;
        }
        self.scheduler.groups_mut().release(&mut tables);
        self.rest_if_idle();
        result.or_else(|error| self.give_up(error))
    }

    pub(crate) fn check_text(&self, tokens: &[u32], chunk: usize) -> Result<(), Error> {
        let refuse =
            |field, expected: String, found: String| Err(Error::Request { field, expected, found });
        let (context, vocabulary) = (self.context(), self.model.config().vocabulary);
        if tokens.len() > context {
            return refuse("tokens", format!("at most {context}"), tokens.len().to_string());
        }
        if let Some(id) = tokens.iter().find(|id| **id as usize >= vocabulary) {
            return refuse("tokens", format!("ids below {vocabulary}"), id.to_string());
        }
        if chunk == 0 {
            return refuse("chunk", "at least 1 token".into(), "0".into());
        }
        Ok(())
    }

    /// The end of the step that starts at `start`, and the positions of its rows that are wanted.
    fn cut(
        &self,
        start: usize,
        len: usize,
        chunk: usize,
        wanted: &dyn Fn(usize) -> bool,
    ) -> (usize, Vec<usize>) {
        let buckets = &self.programs.buckets;
        let longest = (start + chunk.min(buckets.max_tokens())).min(len);
        let mut outputs = Vec::new();
        for position in start..longest {
            if wanted(position) {
                if outputs.len() == buckets.max_outputs() {
                    return (position, outputs);
                }
                outputs.push(position);
            }
        }
        (longest, outputs)
    }

    /// Runs rows of a text outside the schedule and hands its results on.
    pub(crate) fn run_text(
        &mut self,
        tables: &mut Tables,
        tokens: &[u32],
        (rows, outputs): (std::ops::Range<usize>, &[usize]),
        keep_all: bool,
        then: &mut dyn FnMut(&minfer_plan::Program, &StepOutputs<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.land()?;
        if self.lost {
            self.recover()?;
        }
        let mut copies = Vec::new();
        let groups = self.scheduler.groups_mut();
        let reached = groups.reserve(tables, rows.start, rows.end, &mut copies);
        if reached < rows.end {
            return Err(Error::Pages { position: reached, last: tokens.len() - 1 });
        }
        let counts = Counts { tokens: rows.len(), outputs: outputs.len() };
        let key = self.programs.text_key(counts, keep_all);
        let key = key.ok_or_else(|| self.too_long(counts))?;
        let (start, tokens) = (rows.start, &tokens[rows]);
        let step = [StepRows { start, tokens, outputs, tables }];
        let shape = self.programs.sizes.shape(key);
        let inputs =
            Inputs { profile: self.options.profile, ..batch::inputs(&step, &shape, &self.windows) };
        let ticket = self.programs.submit(&self.model, &mut self.devices, key, inputs)?;
        let results = self.programs.wait(&mut self.devices, key, ticket, &Limit::NONE)?;
        then(&self.programs.planned[&key], &results)?;
        check_faults(&self.file)
    }

    /// Hands an error on; a device's takes the running sequences with it.
    pub(crate) fn give_up(&mut self, error: Error) -> Result<(), Error> {
        if let Error::Plan(minfer_plan::Error::Device(_)) = &error {
            self.lose_devices(&error)?;
        }
        Err(error)
    }
}
