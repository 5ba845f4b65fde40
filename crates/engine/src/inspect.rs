//! Stages of the data's way as text, and the values of a real run.

use minfer_graph::TensorType;
use minfer_plan::Bucket;

use crate::engine::Engine;
use crate::error::Error;
use crate::kv::Tables;

/// A form of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The graph as the architecture wrote it.
    Graph,
    /// The graph for Graphviz.
    Dot,
    /// The graph as JSON.
    Json,
    /// The program: splits, launches, places in memory.
    Program,
    /// The launches with the reasons for their kernels.
    Launches,
}

/// A stage of one bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageDump {
    /// The bucket.
    pub bucket: Bucket,
    /// Its text.
    pub text: String,
}

/// A value of a run.
#[derive(Clone, Copy, Debug)]
pub struct TracedValue<'a> {
    /// Name of the node that defines it.
    pub node: &'a str,
    /// The node's op.
    pub op: &'static str,
    /// Which of the node's outputs it is.
    pub output: usize,
    /// Its type; of its rows, as many are there as the run has.
    pub ty: TensorType,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl Engine {
    /// A stage of every bucket, the smallest first.
    pub fn program_dump(&mut self, stage: Stage) -> Result<Vec<StageDump>, Error> {
        let buckets = self.programs.buckets.all().to_vec();
        buckets
            .into_iter()
            .map(|bucket| Ok(StageDump { bucket, text: self.dump(stage, bucket)? }))
            .collect()
    }

    fn dump(&mut self, stage: Stage, bucket: Bucket) -> Result<String, Error> {
        let key = self.programs.whole(bucket);
        Ok(match stage {
            Stage::Graph => self.programs.graph(&self.model, bucket)?.dump(),
            Stage::Dot => self.programs.graph(&self.model, bucket)?.to_dot(),
            Stage::Json => self.programs.graph(&self.model, bucket)?.to_json(),
            Stage::Program => self.programs.plan(&self.model, &self.devices, key)?.dump(),
            Stage::Launches => self.programs.plan(&self.model, &self.devices, key)?.dump_launches(),
        })
    }

    /// Runs a text in one step and gives out the value of every node, in execution order. The
    /// prefix cache is neither used nor filled.
    ///
    /// # Errors
    /// As [`Engine::score_chunked`]; the text must fit one step.
    pub fn trace(
        &mut self,
        tokens: &[u32],
        sink: &mut dyn FnMut(&TracedValue<'_>),
    ) -> Result<(), Error> {
        self.check_text(tokens, 1)?;
        let Some(last) = tokens.len().checked_sub(1) else { return Ok(()) };
        let mut tables = Tables::default();
        let rows = (0..tokens.len(), &[last][..]);
        let result = self.run_text(&mut tables, tokens, rows, true, &mut |program, results| {
            for node in &program.graph.nodes {
                for (output, value) in node.outputs.iter().enumerate() {
                    sink(&TracedValue {
                        node: &node.name,
                        op: node.op.kind().name(),
                        output,
                        ty: program.graph.ty(*value),
                        bytes: results.value(*value)?,
                    });
                }
            }
            Ok(())
        });
        self.scheduler.groups_mut().release(&mut tables);
        self.rest_if_idle();
        result.or_else(|error| self.give_up(error))
    }
}
