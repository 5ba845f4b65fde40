//! Chat messages to prompts through the model's own template.
