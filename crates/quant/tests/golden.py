"""Writes tests/data/<format>.bin: blocks and the values that the PyPI package `gguf` reads in them.

    python3 -m venv .venv && .venv/bin/pip install gguf==0.19.0 numpy==2.4.6
    .venv/bin/python crates/quant/tests/golden.py

Made with Python 3.11, gguf 0.19.0 (gguf.quants.dequantize) and numpy 2.4.6; each file names the
versions it was made with. gguf has no decoder for q8_k: its values are d * q, computed here.

File: lines `key value` (ASCII), an empty line, then the bytes of all blocks, then their values as
little-endian f32. Blocks are extreme first (all zeros, all ones, each scale field at the limits of
its type) and random for the rest; the seed is fixed, so a second run writes the same bytes.

Blocks use some entries of the code books only; the sums of whole books, which tests/it/grid.rs
has, are printed.
"""

import pathlib
import warnings
import zlib
from importlib.metadata import version

import gguf
import numpy as np

FILE_BYTES_MAX = 30_000
BLOCKS_MAX = 4_000
HEADER_BYTES_MAX = 200

# Zeros, subnormals, the normal range's ends, its middle, infinities, NaN: as bits.
F16_EXTREMES = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00,
]
F32_EXTREMES = [
    0x00000000, 0x80000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0xFF7FFFFF,
    0x7F800000, 0xFF800000, 0x7FC00000,
]
BF16_EXTREMES = [bits >> 16 for bits in F32_EXTREMES] + [0x0001, 0x8001, 0x007F]

# Format: (type of the scale fields, their byte offsets, their extreme bits).
SCALES = {
    "f32": ("<u4", [0], F32_EXTREMES),
    "f16": ("<u2", [0], F16_EXTREMES),
    "bf16": ("<u2", [0], BF16_EXTREMES),
    "q4_0": ("<u2", [0], F16_EXTREMES),
    "q4_1": ("<u2", [0, 2], F16_EXTREMES),
    "q5_0": ("<u2", [0], F16_EXTREMES),
    "q5_1": ("<u2", [0, 2], F16_EXTREMES),
    "q8_0": ("<u2", [0], F16_EXTREMES),
    "q2_k": ("<u2", [80, 82], F16_EXTREMES),
    "q3_k": ("<u2", [108], F16_EXTREMES),
    "q4_k": ("<u2", [0, 2], F16_EXTREMES),
    "q5_k": ("<u2", [0, 2], F16_EXTREMES),
    "q6_k": ("<u2", [208], F16_EXTREMES),
    "q8_k": ("<u4", [0], F32_EXTREMES),
    "iq4_nl": ("<u2", [0], F16_EXTREMES),
    "iq4_xs": ("<u2", [0], F16_EXTREMES),
    "mxfp4": ("<u1", [0], [0, 1, 2, 127, 128, 253, 254, 255]),
    "iq1_s": ("<u2", [0], F16_EXTREMES),
    "iq1_m": ("<u2", [48], F16_EXTREMES),
    "iq2_xxs": ("<u2", [0], F16_EXTREMES),
    "iq2_xs": ("<u2", [0], F16_EXTREMES),
    "iq2_s": ("<u2", [0], F16_EXTREMES),
    "iq3_xxs": ("<u2", [0], F16_EXTREMES),
    "iq3_s": ("<u2", [0], F16_EXTREMES),
    "nvfp4": ("<u1", [0, 1, 2, 3], [0, 1, 7, 8, 56, 126, 127, 128, 129, 136, 254, 255]),
    "tq1_0": ("<u2", [52], F16_EXTREMES),
    "tq2_0": ("<u2", [64], F16_EXTREMES),
}


def blocks_of(name, block_bytes, count, rng):
    """`count` blocks of `name` as an array of bytes (count, block_bytes)."""
    scale_type, offsets, extremes = SCALES[name]
    width = np.dtype(scale_type).itemsize
    blocks = rng.integers(0, 256, (count, block_bytes), dtype=np.uint8)

    def put(row, offset, bits):
        if name == "iq1_m":  # four bits in the top of each of four words
            for k in range(4):
                top = blocks[row, offset + 2 * k + 1]
                blocks[row, offset + 2 * k + 1] = (top & 15) | ((bits >> (4 * k) & 15) << 4)
            return
        field = np.array([bits], dtype=scale_type).view(np.uint8)
        blocks[row, offset : offset + width] = field

    blocks[0] = 0x00
    blocks[1] = 0xFF
    row = 2
    # Every field takes every extreme; with several fields, the others in the opposite order.
    for i in range(len(extremes)):
        for k, offset in enumerate(offsets):
            put(row, offset, extremes[i] if k == 0 else extremes[-1 - i])
        row += 1
    assert row < count, f"{name}: {count} blocks leave no room for random ones"
    # Half of the rest have scales as models have them, the other half any bits at all.
    for usual in range(row, (row + count) // 2):
        for offset in offsets:
            if scale_type == "<u2" and name != "bf16":
                put(usual, offset, int(np.float16(rng.normal(0, 0.02)).view(np.uint16)))
    return blocks


def values_of(name, kind, blocks):
    """The values of `blocks` as f32, by `gguf` where it can."""
    if name == "q8_k":
        scale = blocks[:, 0:4].copy().view("<f4")
        return scale * blocks[:, 4:260].view(np.int8).astype(np.float32)
    return gguf.quants.dequantize(blocks, kind)


def write(folder, name, rng):
    kind = gguf.GGMLQuantizationType[name.upper()]
    block_len, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    room = FILE_BYTES_MAX - HEADER_BYTES_MAX
    count = min(BLOCKS_MAX, room // (block_bytes + 4 * block_len))
    blocks = blocks_of(name, block_bytes, count, rng)
    values = np.ascontiguousarray(values_of(name, kind, blocks), dtype="<f4")
    assert values.size == count * block_len
    header = (
        f"format {name}\ngguf_id {int(kind)}\nblock_len {block_len}\nblock_bytes {block_bytes}\n"
        f"blocks {count}\nmade_by gguf {version('gguf')}, numpy {np.__version__}\n\n"
    )
    data = header.encode() + blocks.tobytes() + values.tobytes()
    assert len(data) <= FILE_BYTES_MAX
    (folder / f"{name}.bin").write_bytes(data)


def main():
    folder = pathlib.Path(__file__).parent / "data"
    folder.mkdir(exist_ok=True)
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # NaN and overflow are intended
    for seed, name in enumerate(SCALES):
        write(folder, name, np.random.default_rng(seed))
    for book in ["IQ1_S", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"]:
        of = getattr(gguf.quants, book)
        of.init_grid()
        print(book, hex(zlib.crc32(np.asarray(of.grid).astype(np.int8).tobytes())))


main()
