//! The weight list of a model: names with the shapes they must have, checked against the file.

use minfer_gguf::File;
use minfer_graph::{WeightDecl, WeightId};
use minfer_quant::Quant;

use crate::blueprint::{Blueprint, TensorShape};
use crate::error::Error;
use crate::model::Source;

/// Collects the weights that an architecture asks for, in the order in which it asks.
pub struct Weights<'a> {
    origin: Origin<'a>,
    architecture: &'static str,
    pub(crate) list: Vec<WeightDecl>,
    pub(crate) sources: Vec<Source>,
}

/// What the requests are held against.
enum Origin<'a> {
    /// A file that must have the tensors.
    File(&'a File),
    /// A blueprint whose file is to be made: requests are written down.
    Blueprint(&'a Blueprint, Vec<TensorShape>),
}

impl<'a> Weights<'a> {
    pub(crate) fn new(file: &'a File, architecture: &'static str) -> Weights<'a> {
        let origin = Origin::File(file);
        Weights { origin, architecture, list: Vec::new(), sources: Vec::new() }
    }

    pub(crate) fn recording(blueprint: &'a Blueprint) -> Weights<'a> {
        let origin = Origin::Blueprint(blueprint, Vec::new());
        let architecture = blueprint.config.architecture;
        Weights { origin, architecture, list: Vec::new(), sources: Vec::new() }
    }

    pub(crate) fn into_recorded(self) -> Vec<TensorShape> {
        match self.origin {
            Origin::File(_) => Vec::new(),
            Origin::Blueprint(_, recorded) => recorded,
        }
    }

    /// A matrix of `rows` outputs and `cols` inputs.
    pub fn matrix(
        &mut self,
        name: impl Into<String>,
        rows: usize,
        cols: usize,
    ) -> Result<WeightId, Error> {
        self.tensor(name.into(), &[cols, rows], [1, rows, cols])
    }

    /// A vector.
    pub fn vector(&mut self, name: impl Into<String>, len: usize) -> Result<WeightId, Error> {
        self.tensor(name.into(), &[len], [1, 1, len])
    }

    /// One matrix per expert.
    pub fn experts(
        &mut self,
        name: impl Into<String>,
        experts: usize,
        rows: usize,
        cols: usize,
    ) -> Result<WeightId, Error> {
        self.tensor(name.into(), &[cols, rows, experts], [experts, rows, cols])
    }

    /// Whether the file has an optional tensor.
    pub fn has(&self, name: &str) -> bool {
        match &self.origin {
            Origin::File(file) => file.tensor(name).is_some(),
            Origin::Blueprint(blueprint, _) => blueprint.has(name),
        }
    }

    fn tensor(
        &mut self,
        name: String,
        dims: &[usize],
        [experts, rows, cols]: [usize; 3],
    ) -> Result<WeightId, Error> {
        let expected: Vec<u64> = dims.iter().map(|&d| d as u64).collect();
        let (quant, source) = match &mut self.origin {
            Origin::File(file) => find(file, self.architecture, &name, expected)?,
            Origin::Blueprint(_, recorded) => {
                recorded.push(TensorShape { name: name.clone(), dims: expected });
                (Quant::F32, Source { part: 0, offset: 0 })
            }
        };
        self.list.push(WeightDecl { name, quant, experts, rows, cols });
        self.sources.push(source);
        Ok(WeightId(self.list.len() as u32 - 1))
    }
}

fn find(
    file: &File,
    architecture: &'static str,
    name: &str,
    expected: Vec<u64>,
) -> Result<(Quant, Source), Error> {
    let name = name.to_string();
    let Some(tensor) = file.tensor(&name) else {
        return Err(Error::MissingTensor { name, architecture, expected });
    };
    if without_trailing_ones(&tensor.dims) != without_trailing_ones(&expected) {
        return Err(Error::TensorShape { name, expected, found: tensor.dims.clone() });
    }
    let scale = name.strip_suffix(".weight").map(|stem| format!("{stem}.scale"));
    if let Some(scale) = scale.filter(|scale| file.tensor(scale).is_some()) {
        return Err(Error::TensorScale { name, scale });
    }
    Ok((tensor.quant, Source { part: tensor.part, offset: tensor.offset }))
}

fn without_trailing_ones(dims: &[u64]) -> &[u64] {
    let kept = dims.iter().rposition(|&d| d != 1).map_or(0, |last| last + 1);
    &dims[..kept]
}
