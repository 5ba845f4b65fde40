//! Logits to tokens: the sampler chain and constrained decoding.
