//! The shapes: hyper-parameters of published models, and tiny ones for tests.

use anyhow::{Context as _, Result};
use minfer_models::arch::ARCHITECTURES;
use minfer_models::{Blueprint, Experts, Window};

/// A model's shape.
#[derive(Debug)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    architecture: &'static str,
    layers: usize,
    /// Width of the residual stream, and inner width of the feed-forward block.
    widths: (usize, usize),
    /// Query heads, K/V heads, elements of a head.
    heads: (usize, usize, usize),
    vocabulary: usize,
    tied: bool,
    rope_base: f64,
    context: usize,
    eps: f32,
    window: Option<usize>,
    /// Experts, those that a token uses, and their inner width.
    experts: Option<(usize, usize, usize)>,
    /// Whether rotary frequencies have llama3's factors.
    pub rope_factors: bool,
}

/// What shapes have in common unless they say otherwise.
const BASE: Shape = Shape {
    name: "",
    architecture: "llama",
    layers: 2,
    widths: (256, 768),
    heads: (4, 2, 64),
    vocabulary: 512,
    tied: true,
    rope_base: 1e6,
    context: 4096,
    eps: 1e-6,
    window: None,
    experts: None,
    rope_factors: false,
};
const QWEN2: Shape = Shape { architecture: "qwen2", vocabulary: 151_936, context: 32_768, ..BASE };
const QWEN3: Shape = Shape { architecture: "qwen3", vocabulary: 151_936, context: 40_960, ..BASE };
const GEMMA3: Shape = Shape {
    architecture: "gemma3",
    vocabulary: 262_144,
    context: 32_768,
    window: Some(512),
    ..BASE
};

/// Every shape.
pub static SHAPES: &[Shape] = &[
    Shape {
        name: "smollm2-135m",
        layers: 30,
        widths: (576, 1536),
        heads: (9, 3, 64),
        vocabulary: 49_152,
        rope_base: 1e5,
        context: 8192,
        eps: 1e-5,
        ..BASE
    },
    Shape {
        name: "llama-8b",
        layers: 32,
        widths: (4096, 14_336),
        heads: (32, 8, 128),
        vocabulary: 128_256,
        tied: false,
        rope_base: 5e5,
        context: 131_072,
        eps: 1e-5,
        rope_factors: true,
        ..BASE
    },
    Shape { name: "qwen2-0.5b", layers: 24, widths: (896, 4864), heads: (14, 2, 64), ..QWEN2 },
    Shape { name: "qwen2-1.5b", layers: 28, widths: (1536, 8960), heads: (12, 2, 128), ..QWEN2 },
    Shape {
        name: "qwen2-7b",
        layers: 28,
        widths: (3584, 18_944),
        heads: (28, 4, 128),
        vocabulary: 152_064,
        tied: false,
        ..QWEN2
    },
    Shape { name: "qwen3-0.6b", layers: 28, widths: (1024, 3072), heads: (16, 8, 128), ..QWEN3 },
    Shape { name: "qwen3-1.7b", layers: 28, widths: (2048, 6144), heads: (16, 8, 128), ..QWEN3 },
    Shape { name: "qwen3-4b", layers: 36, widths: (2560, 9728), heads: (32, 8, 128), ..QWEN3 },
    Shape {
        name: "qwen3-8b",
        layers: 36,
        widths: (4096, 12_288),
        heads: (32, 8, 128),
        tied: false,
        ..QWEN3
    },
    Shape {
        name: "qwen3-30b-a3b",
        architecture: "qwen3moe",
        layers: 48,
        widths: (2048, 6144),
        heads: (32, 4, 128),
        tied: false,
        experts: Some((128, 8, 768)),
        ..QWEN3
    },
    Shape { name: "gemma3-270m", layers: 18, widths: (640, 2048), heads: (4, 1, 256), ..GEMMA3 },
    Shape { name: "gemma3-1b", layers: 26, widths: (1152, 6912), heads: (4, 1, 256), ..GEMMA3 },
    Shape { name: "tiny-llama", tied: false, rope_base: 5e5, eps: 1e-5, ..BASE },
    Shape { name: "tiny-qwen2", architecture: "qwen2", ..BASE },
    Shape { name: "tiny-qwen3", architecture: "qwen3", heads: (4, 2, 128), ..BASE },
    Shape {
        name: "tiny-qwen3moe",
        architecture: "qwen3moe",
        tied: false,
        experts: Some((8, 2, 256)),
        ..BASE
    },
    Shape { name: "tiny-gemma3", architecture: "gemma3", window: Some(64), ..BASE },
];

impl Shape {
    /// The shape of a name.
    pub fn find(name: &str) -> Option<&'static Shape> {
        SHAPES.iter().find(|shape| shape.name.eq_ignore_ascii_case(name))
    }

    /// The model on paper.
    ///
    /// # Errors
    /// The architecture is not in this build.
    pub fn blueprint(&self, layers: Option<usize>) -> Result<Blueprint> {
        let architecture = ARCHITECTURES.iter().find(|known| known.name == self.architecture);
        let architecture =
            architecture.with_context(|| format!("no architecture {}", self.architecture))?;
        let (embedding, feed_forward) = self.widths;
        let (heads, kv_heads, head_dim) = self.heads;
        let mut blueprint = (architecture.tiny)(256);
        let config = &mut blueprint.config;
        config.context = self.context;
        config.vocabulary = self.vocabulary;
        config.embedding = embedding;
        config.layers = layers.unwrap_or(self.layers);
        config.feed_forward = feed_forward;
        config.heads = heads;
        config.kv_heads = kv_heads;
        config.head_dim = head_dim;
        config.rope_dims = head_dim;
        config.rope_base = self.rope_base;
        config.eps = self.eps;
        config.window = self.window.map(|size| Window { size, period: 6, rope_base: 10_000.0 });
        config.experts = self.experts.map(|(count, used, width)| Experts { count, used, width });
        blueprint.tied = self.tied;
        Ok(blueprint)
    }
}
