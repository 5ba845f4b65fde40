"""A float64 forward pass over a GGUF file, written from the formulas below and nothing else.

It is the second opinion of golden.py: it sees the file's bytes, never the checkpoint, so agreement
with transformers shows that names, metadata, row orders and formulas mean what is said here.
It is not a model to run: it is slow, and takes one whole prompt and F32 or F16 tensors only.

Notation: position p, head size d, pair j in 0..d/2, `<a>` the architecture's name in metadata keys.

rms_norm(x; w) = x / sqrt(mean(x^2) + eps) * w. Gemma's checkpoints hold w - 1; the file holds w.

Attention. q, k, v = x W^T (+ bias, qwen2); qwen3, qwen3moe and gemma3 then apply rms_norm to each
head of q and k (weights of d values), before rope. score = scale * q.k, causal, softmax, times v;
query head h reads KV head floor(h / (heads / kv_heads)). d is `<a>.attention.key_length`, or
hidden / heads when the key is absent. scale = 1 / sqrt(d), except gemma3 with 62 layers (the 27B
model): 1 / sqrt(hidden / heads), a rule by layer count because no metadata key carries it.

Rope turns pair j by the angle p * f_j and multiplies by m, on q and on k:
    a' = m (a cos - b sin), b' = m (a sin + b cos)
  pairs     llama: (a, b) = (x[2j], x[2j+1]), interleaved; all others: (x[j], x[j + d/2]),
            half-split. Checkpoints are half-split; llama's file has the rows of q and k of each
            head reordered: row 2j is the checkpoint's row j, row 2j+1 is its row j + d/2.
  default   e_j = base^(-2j/d), base = `<a>.rope.freq_base`; f_j = e_j, m = 1.
  linear    `<a>.rope.scaling.type` = "linear", `.factor`: f_j = e_j / factor, m = 1.
  llama3    No scaling key; the tensor rope_freqs.weight holds r (d/2 values): f_j = e_j / r_j,
            m = 1. With wavelength w = 2 pi / e_j, trained context n and
            s = clamp((n / w - low) / (high - low), 0, 1): r_j = 1 / ((1 - s) / factor + s).
  yarn      `.type` = "yarn", `.factor`, `.original_context_length` = n, `.yarn_beta_fast`
            (default 32), `.yarn_beta_slow` (default 1).
            c(beta) = d ln(n / (2 pi beta)) / (2 ln base); lo = max(0, floor(c(beta_fast))),
            hi = min(d - 1, ceil(c(beta_slow))); t_j = clamp((j - lo) / max(0.001, hi - lo), 0, 1);
            f_j = e_j (1 - t_j) + e_j / factor * t_j; g = 0.1 ln(max(factor, 1));
            m = (1 + g) / (1 + L g) * A, with L = `.yarn_log_multiplier` (default 0) and
            A = `.attn_factor` (default 1). transformers calls m `attention_factor` and has the same
            default, 1 + g; L is its `mscale_all_dim` where `mscale` is 1. (llama.cpp writes a
            checkpoint's betas but takes its own defaults when it runs these architectures.)
  gemma3    Layer l is global when (l + 1) % 6 == 0, else local (another period than 6 only where
            `<a>.attention.sliding_window_pattern` says so). Global layers use base and scaling as
            above; local layers use base 10000 (`<a>.rope.freq_base_swa` if present), no scaling,
            and see only keys with p_query - p_key < `<a>.attention.sliding_window`. Without that
            key, or with 0, every layer is global.

Blocks. llama, qwen2, qwen3: x += attn(attn_norm(x)); x += ffn(ffn_norm(x)), with
ffn(x) = down(silu(gate x) * up x). gemma3: x = embedding * sqrt(hidden), then each layer
x += post_attention_norm(attn(attn_norm(x))); x += post_ffw_norm(ffn(ffn_norm(x))), where ffn has
gelu(z) = z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))) in place of silu. qwen3moe: p =
softmax(router x) over all experts; ffn = sum over the `<a>.expert_used_count` largest p_e of
p_e / (their sum) * expert_e(x), each expert a silu ffn. At the end logits = rms_norm(x) times
output.weight, or token_embd.weight where the file has no output.weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gguf import GGUFReader


@dataclass(frozen=True)
class Settings:
    """What the metadata says, with the defaults of absent keys filled in."""

    arch: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    eps: float
    base: float
    local_base: float
    scaling: str
    factor: float
    original: int
    beta_fast: float
    beta_slow: float
    log_multiplier: float
    attn_factor: float
    window: int
    pattern: int
    scale: float
    experts_used: int
    interleaved: bool


class Golden:
    """One GGUF file: settings, and tensors as float64 in row-major numpy order."""

    def __init__(self, path):
        reader = GGUFReader(path)
        self.keys = {name: field.contents() for name, field in reader.fields.items()}
        self.weights = {t.name: np.asarray(t.data, dtype=np.float64) for t in reader.tensors}
        self.settings = self._settings()

    def _settings(self) -> Settings:
        arch = self.keys["general.architecture"]

        def key(name, default=None):
            value = self.keys.get(f"{arch}.{name}", default)
            assert value is not None, f"{arch}.{name} is missing"
            return value

        hidden, heads, layers = (
            key("embedding_length"), key("attention.head_count"), key("block_count"))
        head_dim = key("attention.key_length", hidden // heads)
        scaled_by = hidden // heads if arch == "gemma3" and layers == 62 else head_dim
        unnamed_scaling = "llama3" if "rope_freqs.weight" in self.weights else "none"
        return Settings(
            arch=arch,
            layers=layers,
            hidden=hidden,
            heads=heads,
            kv_heads=key("attention.head_count_kv", heads),
            head_dim=head_dim,
            eps=key("attention.layer_norm_rms_epsilon"),
            base=key("rope.freq_base", 10000.0),
            local_base=key("rope.freq_base_swa", 10000.0),
            scaling=key("rope.scaling.type", unnamed_scaling),
            factor=key("rope.scaling.factor", 1.0),
            original=key("rope.scaling.original_context_length", key("context_length")),
            beta_fast=key("rope.scaling.yarn_beta_fast", 32.0),
            beta_slow=key("rope.scaling.yarn_beta_slow", 1.0),
            log_multiplier=key("rope.scaling.yarn_log_multiplier", 0.0),
            attn_factor=key("rope.scaling.attn_factor", 1.0),
            window=key("attention.sliding_window", 0),
            pattern=key("attention.sliding_window_pattern", 6),
            scale=scaled_by**-0.5,
            experts_used=key("expert_used_count", 0),
            interleaved=arch == "llama",
        )

    def forward(self, ids, settings: Settings | None = None):
        """Logits [positions, vocabulary]; the smallest lead of a chosen expert over a refused one.

        `settings` replaces the file's own, to show that a fixture notices a changed rule.
        """
        s = settings or self.settings
        embedding = self.weights["token_embd.weight"]
        x = embedding[np.asarray(ids)]
        if s.arch == "gemma3":
            x = x * np.sqrt(s.hidden)
        lead = np.inf
        for layer in range(s.layers):
            w = _Block(self.weights, layer)
            a = _attention(s, w, layer, _rms_norm(x, w("attn_norm"), s.eps), self.weights)
            x = x + (_rms_norm(a, w("post_attention_norm"), s.eps) if s.arch == "gemma3" else a)
            h = _rms_norm(x, w("ffn_norm"), s.eps)
            if s.experts_used:
                f, layer_lead = _experts(s, w, h)
                lead = min(lead, layer_lead)
            else:
                f = _ffn(s, h, w("ffn_gate"), w("ffn_up"), w("ffn_down"))
            x = x + (_rms_norm(f, w("post_ffw_norm"), s.eps) if s.arch == "gemma3" else f)
        x = _rms_norm(x, self.weights["output_norm.weight"], s.eps)
        return x @ self.weights.get("output.weight", embedding).T, lead


class _Block:
    """The tensors of one layer by their short names."""

    def __init__(self, weights, layer):
        self._weights, self._prefix = weights, f"blk.{layer}."

    def __call__(self, name):
        return self._weights[f"{self._prefix}{name}.weight"]

    def bias(self, name):
        return self._weights.get(f"{self._prefix}{name}.bias", 0.0)

    def has(self, name):
        return f"{self._prefix}{name}.weight" in self._weights


def is_global(s: Settings, layer: int) -> bool:
    return s.arch != "gemma3" or s.window == 0 or (layer + 1) % s.pattern == 0


def _rms_norm(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _silu(x):
    return x / (1.0 + np.exp(-x))


def _gelu(x):
    return 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)))


def _ffn(s, x, gate, up, down):
    activation = _gelu if s.arch == "gemma3" else _silu
    return (activation(x @ gate.T) * (x @ up.T)) @ down.T


def _experts(s, w, x):
    """Routed feed-forward; also the smallest gap between the last chosen and the first refused."""
    gates, ups, downs = w("ffn_gate_exps"), w("ffn_up_exps"), w("ffn_down_exps")
    probability = _softmax(x @ w("ffn_gate_inp").T)
    ranked = np.argsort(-probability, axis=-1, kind="stable")
    out, lead = np.zeros_like(x), np.inf
    for row, order in enumerate(ranked):
        p = probability[row]
        chosen = order[: s.experts_used]
        lead = min(lead, p[chosen[-1]] - p[order[s.experts_used]])
        for e in chosen:
            y = _ffn(s, x[row : row + 1], gates[e], ups[e], downs[e])[0]
            out[row] += p[e] / p[chosen].sum() * y
    return out, lead


def rope_table(s: Settings, layer: int, divisors):
    """Angles per position (f_j, d/2 values) and the magnitude m; divisors is rope_freqs.weight."""
    d, j = s.head_dim, np.arange(s.head_dim // 2)
    if not is_global(s, layer):
        return s.local_base ** (-2.0 * j / d), 1.0
    extrapolated = s.base ** (-2.0 * j / d)
    if s.scaling == "llama3":
        return extrapolated / divisors, 1.0
    if s.scaling == "linear":
        return extrapolated / s.factor, 1.0
    if s.scaling != "yarn":
        return extrapolated, 1.0

    def dimension(rotations):
        return d * np.log(s.original / (2 * np.pi * rotations)) / (2 * np.log(s.base))

    low = max(0.0, np.floor(dimension(s.beta_fast)))
    high = min(d - 1.0, np.ceil(dimension(s.beta_slow)))
    ramp = np.clip((j - low) / max(0.001, high - low), 0.0, 1.0)
    growth = 0.1 * np.log(max(s.factor, 1.0))
    magnitude = (1.0 + growth) / (1.0 + s.log_multiplier * growth) * s.attn_factor
    return extrapolated * (1.0 - ramp) + extrapolated / s.factor * ramp, magnitude


def _rope(s, x, table):
    """x: [positions, heads, d]; positions count from 0."""
    frequency, magnitude = table
    angle = np.arange(x.shape[0])[:, None, None] * frequency
    cos, sin = magnitude * np.cos(angle), magnitude * np.sin(angle)
    half = s.head_dim // 2
    if s.interleaved:
        first, second = np.s_[..., 0::2], np.s_[..., 1::2]
    else:
        first, second = np.s_[..., :half], np.s_[..., half:]
    out = np.empty_like(x)
    out[first] = x[first] * cos - x[second] * sin
    out[second] = x[first] * sin + x[second] * cos
    return out


def _attention(s, w, layer, x, weights):
    n = x.shape[0]
    q = (x @ w("attn_q").T + w.bias("attn_q")).reshape(n, s.heads, s.head_dim)
    k = (x @ w("attn_k").T + w.bias("attn_k")).reshape(n, s.kv_heads, s.head_dim)
    v = (x @ w("attn_v").T + w.bias("attn_v")).reshape(n, s.kv_heads, s.head_dim)
    if w.has("attn_q_norm"):
        q = _rms_norm(q, w("attn_q_norm"), s.eps)
        k = _rms_norm(k, w("attn_k_norm"), s.eps)
    table = rope_table(s, layer, weights.get("rope_freqs.weight"))
    q, k = _rope(s, q, table), _rope(s, k, table)
    k, v = (np.repeat(t, s.heads // s.kv_heads, axis=1) for t in (k, v))
    score = np.einsum("qhd,khd->hqk", q, k) * s.scale
    distance = np.arange(n)[:, None] - np.arange(n)[None, :]
    masked = distance < 0
    if not is_global(s, layer):
        masked = masked | (distance >= s.window)
    score = np.where(masked, -np.inf, score)
    out = np.einsum("hqk,khd->qhd", _softmax(score), v).reshape(n, s.heads * s.head_dim)
    return out @ w("attn_output").T
