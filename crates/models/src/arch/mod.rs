//! The architectures: one file and one row each. To add one, see `docs/adding/model.md`.

mod gemma3;
mod llama;
mod qwen2;
mod qwen3;
mod qwen3moe;

use minfer_gguf::File;

use crate::blueprint::Blueprint;
use crate::config::Config;
use crate::error::Error;
use crate::model::Network;
use crate::weights::Weights;

/// Asks for an architecture's weights; gives what writes its graph.
pub(crate) type ReadWeights = fn(&Config, &mut Weights<'_>) -> Result<Box<dyn Network>, Error>;

/// An architecture, as the table knows it.
pub struct Architecture {
    /// Its name: `general.architecture` of its files, its own file's name.
    pub name: &'static str,
    /// Other names that files give it.
    pub aliases: &'static [&'static str],
    /// Models that it covers, for the documentation.
    pub models: &'static str,
    pub(crate) config: fn(&File) -> Result<Config, Error>,
    pub(crate) weights: ReadWeights,
    /// A model of the given width, small enough for tests.
    pub tiny: fn(usize) -> Blueprint,
}

impl Architecture {
    /// Whether a file's `general.architecture` means this one.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

impl std::fmt::Debug for Architecture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! architectures {
    ($($module:ident { aliases: $aliases:expr, models: $models:expr },)*) => {
        /// Every architecture.
        pub const ARCHITECTURES: &[Architecture] = &[$(Architecture {
            name: stringify!($module),
            aliases: &$aliases,
            models: $models,
            config: $module::config,
            weights: $module::weights,
            tiny: $module::tiny,
        },)*];
    };
}

architectures! {
    llama { aliases: [], models: "Llama 2 and 3, Mistral, SmolLM2" },
    qwen2 { aliases: [], models: "Qwen 2 and 2.5, DeepSeek-R1 distillations of them" },
    qwen3 { aliases: [], models: "Qwen 3, dense" },
    gemma3 { aliases: [], models: "Gemma 3, text" },
    qwen3moe { aliases: [], models: "Qwen 3, mixtures of experts" },
}
