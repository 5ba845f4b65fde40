"""Makes and checks the fixtures that hold minfer's architectures to transformers.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python golden.py            # writes fixtures/
    .venv/bin/python golden.py --check    # remakes them elsewhere and compares with fixtures/
    .venv/bin/python golden.py --verify   # float64 forward over the files; gguf and numpy suffice

For each variant: a tiny transformers checkpoint with seeded random weights, its conversion to
GGUF under the names and keys llama.cpp uses, and the logits of the float32 eager model.

    fixtures/NAME.gguf    the model; small vocabularies that open, but tokenize only plain ASCII
    fixtures/NAME.json    ids, positions, vocabulary, what the variant is about, seed, versions
    fixtures/NAME.logits  [positions, vocabulary] little-endian f32, row-major

Every weight is a value that its stored type (F32, F16) holds exactly, so file and checkpoint
agree bit for bit. Random values come from integer arithmetic alone, so the GGUF bytes are the
same on every machine; the logits' last bits depend on the processor's float32 matrix kernels.
golden_forward.py states the formulas, the row order of q and k and the scaling keys.

Conversion, beside renaming: llama's q and k rows go from half-split to interleaved pairs;
gemma's norm weights are stored plus one; qwen3moe's fused gate_up tensor is cut into gate and
up, each [experts, ffn, hidden] in row-major order; llama3 scaling becomes rope_freqs.weight;
tied models have no output.weight. Not written, because llama.cpp's files lack them: key_length
of llama and qwen2 when it is hidden / heads, rope.dimension_count outside llama, and gemma3's
layer pattern, local base and attention scale.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import tempfile
import zlib
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np

from golden_forward import Golden

FIXTURES = Path(__file__).resolve().parent / "fixtures"
POSITIONS = 70
MAX_GGUF_BYTES = 300_000
TOLERANCE = 1e-4
# A changed rule must move the logits by this much, relative, or the fixture could not catch it.
NOTICED = 1e-2


@dataclass(frozen=True)
class Variant:
    """One fixture: a checkpoint configuration and how it is stored."""

    name: str
    about: str
    model_type: str
    config: dict
    rope: dict
    vocabulary: str
    stored: str = "F32"
    # Mean weight of the norms that close a gemma branch: small, or rounding grows over 62 layers.
    branch: float = 1.0
    # Added to the seed: picked so that no choice of experts is near a tie.
    salt: int = 0
    # Settings of golden_forward that, if used instead of the file's, must change the logits.
    mutations: dict = field(default_factory=dict)


def dims(hidden, layers, heads, kv_heads, ffn, vocab, head_dim=None, **more):
    """Shape keys of a transformers configuration."""
    shape = dict(
        hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=kv_heads, intermediate_size=ffn, vocab_size=vocab,
        max_position_embeddings=256, tie_word_embeddings=False)
    return shape | ({"head_dim": head_dim} if head_dim else {}) | more


def rope(theta, kind="default", **more):
    return dict(rope_type=kind, rope_theta=theta, **more)


def gemma_rope(**full):
    return dict(full_attention=rope(1e6, **full), sliding_attention=rope(1e4))


YARN = dict(kind="yarn", factor=4.0, original_max_position_embeddings=512)
LLAMA3 = dict(kind="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=128)
GEMMA = dict(rms_norm_eps=1e-6, sliding_window=8, tie_word_embeddings=True)
NO_SCALING = {"no scaling": dict(scaling="none")}
PAIRS = {"half-split pairs": dict(interleaved=False)}
GEMMA_MUTATIONS = {
    "no window": dict(window=POSITIONS), "window 9": dict(window=9),
    "local base": dict(local_base=1e6), "global base": dict(base=1e4),
    "interleaved pairs": dict(interleaved=True)}

VARIANTS = [
    Variant("llama", "grouped KV heads, untied output", "llama",
            dims(64, 2, 4, 2, 80, 128, rms_norm_eps=1e-5), rope(1e4), "bpe", mutations=PAIRS),
    Variant("llama_tied", "tied embeddings, one KV head per query head", "llama",
            dims(32, 3, 2, 2, 64, 128, rms_norm_eps=1e-5, tie_word_embeddings=True),
            rope(1e5), "bpe", mutations=PAIRS),
    Variant("llama_linear", "linear rope scaling, SentencePiece vocabulary", "llama",
            dims(32, 2, 2, 1, 64, 288, rms_norm_eps=1e-5),
            rope(1e4, "linear", factor=4.0), "spm", mutations=NO_SCALING),
    Variant("llama_llama3", "llama3 rope scaling, head size not hidden / heads", "llama",
            dims(32, 2, 4, 2, 48, 128, 32, rms_norm_eps=1e-5, max_position_embeddings=1024),
            rope(5e5, **LLAMA3), "bpe", mutations=NO_SCALING | PAIRS),
    Variant("llama_yarn", "yarn rope scaling with its default betas", "llama",
            dims(32, 2, 4, 2, 48, 128, 32, rms_norm_eps=1e-5, max_position_embeddings=2048),
            rope(1e4, **YARN), "bpe",
            mutations=NO_SCALING | {"linear": dict(scaling="linear"), "beta": dict(beta_fast=8.0),
                                    "magnitude": dict(log_multiplier=1.0)}),
    Variant("qwen2", "biases on q, k and v", "qwen2",
            dims(64, 2, 4, 2, 48, 128, rms_norm_eps=1e-6), rope(1e6), "bpe",
            mutations={"interleaved pairs": dict(interleaved=True)}),
    Variant("qwen3", "norms on q and k, head size not hidden / heads, tied", "qwen3",
            dims(32, 3, 4, 2, 48, 128, 32, rms_norm_eps=1e-6, tie_word_embeddings=True),
            rope(1e6), "bpe", mutations={"interleaved pairs": dict(interleaved=True)}),
    Variant("qwen3_yarn", "yarn with betas of its own, half-split pairs", "qwen3",
            dims(32, 2, 2, 1, 48, 128, 32, rms_norm_eps=1e-6, max_position_embeddings=2048),
            rope(1e4, **YARN, beta_fast=16.0, beta_slow=2.0), "bpe",
            mutations=NO_SCALING | {"betas": dict(beta_fast=32.0, beta_slow=1.0)}),
    Variant("gemma3", "five local layers to one global, window 8, F16 weights", "gemma3_text",
            dims(32, 7, 2, 1, 48, 288, 32, query_pre_attn_scalar=32, **GEMMA),
            gemma_rope(), "gemma", "F16", mutations=GEMMA_MUTATIONS),
    Variant("gemma3_linear", "linear scaling of the global layers only", "gemma3_text",
            dims(32, 6, 2, 1, 48, 288, 32, query_pre_attn_scalar=32, **GEMMA),
            gemma_rope(kind="linear", factor=8.0), "gemma", "F16",
            mutations=GEMMA_MUTATIONS | NO_SCALING),
    Variant("gemma3_27b", "62 layers: attention scaled by hidden / heads", "gemma3_text",
            dims(8, 62, 1, 1, 16, 288, 16, query_pre_attn_scalar=8, **GEMMA),
            gemma_rope(), "gemma", "F16", branch=0.03125,
            mutations={"no window": dict(window=POSITIONS),
                       "scale by head size": dict(scale=0.25)}),
    Variant("qwen3moe", "two of eight experts, weights renormalized, F16 weights", "qwen3_moe",
            dims(32, 2, 4, 2, 64, 128, 16, rms_norm_eps=1e-6, num_experts=8,
                 num_experts_per_tok=2, moe_intermediate_size=48, norm_topk_prob=True),
            rope(1e6), "bpe", "F16", salt=5,
            mutations={"three experts": dict(experts_used=3)}),
]
ARCH = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma3_text": "gemma3",
        "qwen3_moe": "qwen3moe"}


def seed_of(variant):
    """A seed of its own for every variant, stable under insertions into the list."""
    return zlib.crc32(variant.name.encode()) + variant.salt


def noise(rng, shape):
    """About normal, variance 1: twelve uniform 12-bit integers, so that no libm is involved."""
    total = np.zeros(shape, dtype=np.int64)
    for _ in range(12):
        total += rng.integers(0, 4096, size=shape)
    return (total - 12 * 2048) / 4096.0


def spread(variant, name, shape):
    """Standard deviation per tensor: attention peaked, residual branches of like size."""
    fan_in = shape[-1] if len(shape) > 1 else 1
    if name.endswith("embed_tokens.weight"):
        tied = variant.config["tie_word_embeddings"]
        return 0.1 if variant.model_type == "gemma3_text" else 0.25 if tied else 1.0
    for part, gain in (("q_proj.weight", 1.3), ("k_proj.weight", 1.3), ("mlp.gate.weight", 2.0),
                       ("lm_head.weight", 2.0), ("bias", 0.5), ("norm.weight", 0.25)):
        if name.endswith(part):
            return gain / math.sqrt(fan_in)
    return 1.0 / math.sqrt(fan_in)


def fill(model, variant, rng):
    """Random weights, each exact in f16 and, for gemma's norms, exact after adding one."""
    import torch

    for name, parameter in sorted(model.named_parameters()):
        shape = tuple(parameter.shape)
        values = noise(rng, shape) * spread(variant, name, shape)
        if "post_" in name and variant.branch != 1.0:
            values = (values + 1.0) * variant.branch - 1.0
        if name.endswith("norm.weight"):
            values = np.round(values * 1024) / 1024
            if variant.model_type != "gemma3_text":
                values = values + 1.0
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values.astype(np.float16).astype(np.float32)))


def build(variant):
    """The checkpoint's tensors, its configuration, the ids and the logits of every position."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    config = AutoConfig.for_model(
        variant.model_type, rope_parameters=variant.rope, **variant.config)
    model = AutoModelForCausalLM.from_config(
        config, attn_implementation="eager", experts_implementation="eager", dtype=torch.float32)
    model.eval()
    rng = np.random.Generator(np.random.PCG64(seed_of(variant)))
    fill(model, variant, rng)
    ids = rng.integers(0, variant.config["vocab_size"], size=POSITIONS)
    with torch.no_grad():
        logits = model(torch.from_numpy(ids)[None], use_cache=False).logits[0]
    tensors = {name: p.detach().numpy() for name, p in model.named_parameters()}
    return tensors, config, [int(i) for i in ids], logits.numpy().astype("<f4")


GLOBAL_NAMES = {"model.embed_tokens.weight": "token_embd.weight",
                "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}
BLOCK_NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "mlp.gate": "ffn_gate_inp", "input_layernorm": "attn_norm"}
PRE_NORM_NAMES = {"post_attention_layernorm": "ffn_norm"}
SANDWICH_NAMES = {"post_attention_layernorm": "post_attention_norm",
                  "pre_feedforward_layernorm": "ffn_norm",
                  "post_feedforward_layernorm": "post_ffw_norm"}


def interleave_rows(weight, heads):
    """Half-split rows (j, j + d/2) of each head become neighbours (2j, 2j + 1)."""
    d = weight.shape[0] // heads
    order = [row // 2 + (row % 2) * (d // 2) for row in range(d)]
    return weight.reshape(heads, d, -1)[:, order].reshape(weight.shape)


def convert(name, value, variant):
    """One checkpoint tensor as (GGUF name, array) pairs."""
    gemma = variant.model_type == "gemma3_text"
    if gemma and name.endswith("norm.weight"):
        value = value + np.float32(1.0)
    if name in GLOBAL_NAMES:
        return [(GLOBAL_NAMES[name], value)]
    _, _, layer, rest = name.split(".", 3)
    if rest == "mlp.experts.gate_up_proj":
        gate, up = np.split(value, 2, axis=1)
        return [(f"blk.{layer}.ffn_{part}_exps.weight", cut)
                for part, cut in (("gate", gate), ("up", up))]
    if rest == "mlp.experts.down_proj":
        return [(f"blk.{layer}.ffn_down_exps.weight", value)]
    stem, kind = rest.rsplit(".", 1)
    if variant.model_type == "llama" and stem in ("self_attn.q_proj", "self_attn.k_proj"):
        which = "num_attention_heads" if "q_proj" in stem else "num_key_value_heads"
        value = interleave_rows(value, variant.config[which])
    names = BLOCK_NAMES | (SANDWICH_NAMES if gemma else PRE_NORM_NAMES)
    return [(f"blk.{layer}.{names[stem]}.{kind}", value)]


def llama3_divisors(scaling, head_dim):
    """r_j of golden_forward's llama3 rule: what each frequency is divided by."""
    n = scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    divisors = []
    for j in range(head_dim // 2):
        wavelength = 2 * math.pi * scaling["rope_theta"] ** (2 * j / head_dim)
        smooth = min(1.0, max(0.0, (n / wavelength - low) / (high - low)))
        divisors.append(1.0 / ((1.0 - smooth) / scaling["factor"] + smooth))
    return np.array(divisors, dtype=np.float32)


def write_rope_keys(writer, variant, config):
    from gguf import RopeScalingType

    scaling = variant.rope.get("full_attention", variant.rope)
    writer.add_rope_freq_base(scaling["rope_theta"])
    if variant.model_type == "llama":
        writer.add_rope_dimension_count(config.head_dim)
    if scaling["rope_type"] == "linear":
        writer.add_rope_scaling_type(RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(scaling["factor"])
    elif scaling["rope_type"] == "yarn":
        writer.add_rope_scaling_type(RopeScalingType.YARN)
        writer.add_rope_scaling_factor(scaling["factor"])
        writer.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
        if "beta_fast" in scaling:
            writer.add_rope_scaling_yarn_beta_fast(scaling["beta_fast"])
            writer.add_rope_scaling_yarn_beta_slow(scaling["beta_slow"])


def write_keys(writer, variant, config):
    """The metadata that a converted checkpoint of the architecture carries."""
    writer.add_type("model")
    writer.add_name(f"minfer fixture {variant.name}")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if "head_dim" in variant.config:
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    write_rope_keys(writer, variant, config)
    if variant.model_type == "llama":
        writer.add_vocab_size(config.vocab_size)
    if variant.model_type == "gemma3_text":
        writer.add_sliding_window(config.sliding_window)
    if variant.model_type == "qwen3_moe":
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_file_type(1 if variant.stored == "F16" else 0)
    writer.add_quantization_version(2)


def write_bpe(writer, variant):
    """Byte-level BPE: three control tokens, printable ASCII, space, newline, some merges."""
    pieces = ["Ġ", "Ċ"] + [chr(c) for c in range(33, 127)]
    tokens = ["<|begin|>", "<|end|>", "<|pad|>"] + pieces
    pairs = [(a, b) for b in "eaoiu" for a in "tnsrhldcmfpgbw"]
    merges = pairs[: variant.config["vocab_size"] - len(tokens)]
    tokens += [a + b for a, b in merges]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe" if variant.model_type == "llama" else "qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * 3 + [1] * (len(tokens) - 3))
    writer.add_token_merges([f"{a} {b}" for a, b in merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)


def write_spm(writer, variant):
    """SentencePiece: control tokens in the family's order, 256 bytes, letters, merged pieces."""
    if variant.vocabulary == "gemma":
        special, bos, eos, unknown = ["<pad>", "<eos>", "<bos>", "<unk>"], 2, 1, 3
    else:
        special, bos, eos, unknown = ["<unk>", "<s>", "</s>"], 1, 2, 0
    merged = ["th", "▁a", "er"]
    pieces = (merged + ["▁"] + list("etaoinshrdlcumwfgypbvkjxqz"))
    tokens = special + [f"<0x{byte:02X}>" for byte in range(256)] + pieces
    tokens = tokens[: variant.config["vocab_size"]]
    normal = len(tokens) - len(special) - 256
    kinds = [2 if i == unknown else 3 for i in range(len(special))] + [6] * 256 + [1] * normal
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * (len(special) + 256) + [-float(i) for i in range(normal)])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(bos)
    writer.add_eos_token_id(eos)
    writer.add_unk_token_id(unknown)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(variant.vocabulary != "gemma")


def write_gguf(path, variant, tensors, config):
    """Writes the file; matrices take the variant's type, vectors and the router stay F32."""
    from gguf import GGUFWriter

    writer = GGUFWriter(path, ARCH[variant.model_type])
    write_keys(writer, variant, config)
    (write_bpe if variant.vocabulary == "bpe" else write_spm)(writer, variant)
    converted = [pair for name, value in tensors.items() for pair in convert(name, value, variant)]
    if variant.rope.get("rope_type") == "llama3":
        converted.append(("rope_freqs.weight", llama3_divisors(variant.rope, config.head_dim)))
    for name, value in converted:
        half = variant.stored == "F16" and value.ndim > 1 and "ffn_gate_inp" not in name
        stored = np.ascontiguousarray(value, dtype=np.float16 if half else np.float32)
        assert np.array_equal(stored.astype(np.float64), value.astype(np.float64)), name
        writer.add_tensor(name, stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    size = path.stat().st_size
    assert size <= MAX_GGUF_BYTES, f"{path.name}: {size} bytes, at most {MAX_GGUF_BYTES} wanted"


def write_fixture(folder, variant):
    tensors, config, ids, logits = build(variant)
    write_gguf(folder / f"{variant.name}.gguf", variant, tensors, config)
    (folder / f"{variant.name}.logits").write_bytes(logits.tobytes())
    facts = {
        "name": variant.name, "architecture": ARCH[variant.model_type], "about": variant.about,
        "seed": seed_of(variant), "positions": POSITIONS, "vocabulary": config.vocab_size,
        "versions": {p: version(p) for p in ("torch", "transformers", "gguf", "numpy")},
        "ids": ids}
    lines = ",\n".join(f'  "{k}": {json.dumps(v)}' for k, v in facts.items())
    (folder / f"{variant.name}.json").write_text(f"{{\n{lines}\n}}\n")


def relative(found, expected):
    """Largest difference at any position, over the largest logit of that position."""
    difference = np.abs(found - expected).max(axis=1)
    return float((difference / np.abs(expected).max(axis=1)).max())


def read_logits(folder, name):
    facts = json.loads((folder / f"{name}.json").read_text())
    raw = np.fromfile(folder / f"{name}.logits", dtype="<f4")
    return facts["ids"], raw.reshape(facts["positions"], facts["vocabulary"])


def verify(folder, variant):
    """Float64 logits from the file's bytes against the stored ones; returns a table row."""
    path = folder / f"{variant.name}.gguf"
    ids, expected = read_logits(folder, variant.name)
    golden = Golden(path)
    found, lead = golden.forward(ids)
    error = relative(found, expected)
    assert error <= TOLERANCE, f"{variant.name}: {error:.2e} relative, at most {TOLERANCE} wanted"
    assert lead > 1e-3, f"{variant.name}: experts too close to call ({lead:.1e}); change the salt"
    moved = {}
    for rule, change in variant.mutations.items():
        other, _ = golden.forward(ids, dataclasses.replace(golden.settings, **change))
        moved[rule] = relative(other, expected)
        assert moved[rule] > NOTICED, f"{variant.name}: {rule} moves logits by {moved[rule]:.1e}"
    absolute = np.abs(found - expected).max()
    notes = ", ".join(f"{rule} {size:.2f}" for rule, size in moved.items())
    return (f"{variant.name:14} {path.stat().st_size:7} {absolute:9.1e} {error:9.1e}"
            f" {np.abs(expected).max():6.1f}  {notes}")


def check(folder, fresh, variant):
    """A remade fixture against the checked-in one; logits may differ in their last bits."""
    for suffix in ("gguf", "json"):
        name = f"{variant.name}.{suffix}"
        if (folder / name).read_bytes() != (fresh / name).read_bytes():
            raise SystemExit(f"{name}: the remade file differs from the checked-in one")
    error = relative(read_logits(fresh, variant.name)[1], read_logits(folder, variant.name)[1])
    if error > 1e-5:
        raise SystemExit(f"{variant.name}.logits: differs by {error:.1e} relative, 1e-5 allowed")
    return f"{variant.name:14} same GGUF and ids, logits differ by {error:.1e} relative"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verify", action="store_true", help="float64 forward over the fixtures")
    parser.add_argument("--check", action="store_true", help="remake and compare, write nothing")
    parser.add_argument("--only", help="one variant by name")
    options = parser.parse_args()
    variants = [v for v in VARIANTS if options.only in (None, v.name)]
    if not variants:
        sys.exit(f"no variant {options.only}; known: {', '.join(v.name for v in VARIANTS)}")
    if options.verify:
        print("fixture          bytes  max diff  relative  |max|  movement with a rule changed")
        for variant in variants:
            print(verify(FIXTURES, variant))
        return
    if options.check:
        with tempfile.TemporaryDirectory() as fresh:
            for variant in variants:
                write_fixture(Path(fresh), variant)
                print(check(FIXTURES, Path(fresh), variant))
        return
    FIXTURES.mkdir(exist_ok=True)
    for variant in variants:
        write_fixture(FIXTURES, variant)
        print(f"wrote fixtures/{variant.name}.gguf, .json, .logits")


if __name__ == "__main__":
    main()
