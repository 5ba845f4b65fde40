//! A model: configuration, weights, state and a way to write its graph.

use std::sync::Arc;

use minfer_gguf::File;
use minfer_graph::{Builder, Graph, KvTypes, StateDecl, StepShape, ValueId, WeightDecl};

use crate::arch;
use crate::block::{attention, head};
use crate::config::Config;
use crate::error::Error;
use crate::weights::Weights;

/// Where a weight's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Index of the file's part.
    pub part: usize,
    /// Offset in the part.
    pub offset: u64,
}

/// What an architecture does once its weights are known: write the layers of a graph.
pub(crate) trait Network: Send + Sync {
    /// From the step's inputs to the rows that the head is applied to, output rows only.
    fn layers(&self, config: &Config, builder: &mut Builder) -> Result<ValueId, Error>;

    /// The final norm and the head.
    fn head(&self) -> &head::Head;
}

/// A model that can run: its file has everything it needs, in the shapes it needs.
pub struct Model {
    config: Config,
    weights: Arc<[WeightDecl]>,
    sources: Vec<Source>,
    network: Box<dyn Network>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Reads a file as a model: finds its architecture, reads the hyper-parameters, checks every
/// tensor.
pub fn open(file: &File) -> Result<Model, Error> {
    let named = file.metadata().require_str("general.architecture")?;
    let Some(architecture) = arch::ARCHITECTURES.iter().find(|a| a.answers_to(named)) else {
        let known = arch::ARCHITECTURES.iter().map(|a| a.name).collect();
        return Err(Error::Architecture { found: named.into(), known });
    };
    let config = (architecture.config)(file)?;
    let mut weights = Weights::new(file, architecture.name);
    let network = (architecture.weights)(&config, &mut weights)?;
    let Weights { list, sources, .. } = weights;
    Ok(Model { config, weights: list.into(), sources, network })
}

impl Model {
    /// Hyper-parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Weights, by [`minfer_graph::WeightId`].
    pub fn weights(&self) -> &Arc<[WeightDecl]> {
        &self.weights
    }

    /// Where each weight's bytes are.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// State, by [`minfer_graph::StateId`]: the cache of each layer. Groups are numbered in the
    /// order in which layers first need them.
    pub fn states(&self, kv: KvTypes) -> Result<Arc<[StateDecl]>, Error> {
        self.config.check_kv(kv.key)?;
        self.config.check_kv(kv.value)?;
        Ok(attention::states(&self.config, kv).into())
    }

    /// The graph of steps of `shape`.
    pub fn graph(&self, shape: &StepShape) -> Result<Graph, Error> {
        let states = self.states(shape.kv)?;
        let mut builder = Builder::new(self.weights.clone(), states, *shape);
        let rows = self.network.layers(&self.config, &mut builder)?;
        builder.layer(None);
        self.network.head().write(&mut builder, rows)?;
        Ok(builder.finish()?)
    }
}
