//! Files of tiny models, changed at will before they are opened.

use minfer_gguf::{File, Value, Writer};
use minfer_graph::{Graph, KvTypes, StepShape, Want};
use minfer_models::arch::{ARCHITECTURES, Architecture};
use minfer_models::{Blueprint, Error, Model, TensorShape};
use minfer_quant::{KvType, Quant};

pub const KV: KvTypes = KvTypes { key: KvType::F16, value: KvType::F16 };

pub fn architecture(name: &str) -> &'static Architecture {
    ARCHITECTURES.iter().find(|a| a.name == name).unwrap()
}

/// A model's file in pieces: f32 tensors of ones.
#[derive(Clone)]
pub struct Draft {
    architecture: String,
    metadata: Vec<(String, Value)>,
    tensors: Vec<(TensorShape, Vec<f32>)>,
}

impl Draft {
    pub fn new(blueprint: &Blueprint) -> Draft {
        let tensors = blueprint.tensors().unwrap().into_iter().map(|tensor| {
            let len: u64 = tensor.dims.iter().product();
            (tensor, vec![1.0; len as usize])
        });
        Draft {
            architecture: blueprint.config.architecture.to_string(),
            metadata: blueprint.metadata(),
            tensors: tensors.collect(),
        }
    }

    /// The smallest model of an architecture.
    pub fn tiny(name: &str) -> Draft {
        Draft::new(&(architecture(name).tiny)(64))
    }

    /// Sets a key of the architecture.
    pub fn with(self, name: &str, value: impl Into<Value>) -> Draft {
        let key = format!("{}.{name}", self.architecture);
        self.with_key(&key, value)
    }

    /// Sets any key.
    pub fn with_key(mut self, key: &str, value: impl Into<Value>) -> Draft {
        self.metadata.retain(|(known, _)| known != key);
        self.metadata.push((key.to_string(), value.into()));
        self
    }

    /// Drops a key of the architecture.
    pub fn without(mut self, name: &str) -> Draft {
        let key = format!("{}.{name}", self.architecture);
        let before = self.metadata.len();
        self.metadata.retain(|(known, _)| *known != key);
        assert_eq!(self.metadata.len() + 1, before, "no key {key}");
        self
    }

    /// Sets a tensor, or adds it.
    pub fn with_tensor(mut self, name: &str, dims: &[u64], values: Vec<f32>) -> Draft {
        let shape = TensorShape { name: name.to_string(), dims: dims.to_vec() };
        match self.tensors.iter_mut().find(|(tensor, _)| tensor.name == name) {
            Some(tensor) => *tensor = (shape, values),
            None => self.tensors.push((shape, values)),
        }
        self
    }

    /// Sets a tensor to ones of other dimensions.
    pub fn with_dims(self, name: &str, dims: &[u64]) -> Draft {
        let len: u64 = dims.iter().product();
        self.with_tensor(name, dims, vec![1.0; len as usize])
    }

    /// Drops a tensor.
    pub fn without_tensor(mut self, name: &str) -> Draft {
        let before = self.tensors.len();
        self.tensors.retain(|(tensor, _)| tensor.name != name);
        assert_eq!(self.tensors.len() + 1, before, "no tensor {name}");
        self
    }

    pub fn names(&self) -> Vec<String> {
        self.tensors.iter().map(|(tensor, _)| tensor.name.clone()).collect()
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        for (key, value) in &self.metadata {
            writer = writer.kv(key, value.clone());
        }
        for (tensor, values) in &self.tensors {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            writer = writer.tensor(&tensor.name, Quant::F32, tensor.dims.clone(), bytes);
        }
        writer.to_bytes().unwrap()
    }

    pub fn file(&self) -> File {
        File::from_bytes(self.bytes()).unwrap()
    }

    pub fn open(&self) -> Result<Model, Error> {
        minfer_models::open(&self.file())
    }

    /// What is said when the file is opened.
    pub fn refusal(&self) -> String {
        self.open().map(|model| format!("{:?}", model.config())).unwrap_err().to_string()
    }
}

/// A step of at most four tokens of two sequences.
pub fn shape(want: Want) -> StepShape {
    StepShape {
        tokens: 4,
        outputs: 2,
        want,
        kind: minfer_graph::StepKind::Mixed,
        kv: KV,
        sequences: 2,
        pages: 16,
        work: 8,
        partials: 4,
    }
}

pub fn graph(model: &Model) -> Graph {
    model.graph(&shape(Want::Logits)).unwrap()
}
