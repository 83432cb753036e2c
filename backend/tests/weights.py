"""LoRA weights, sound and otherwise."""

from __future__ import annotations

from typing import Any

import msgspec


def weights(tensors: int = 2, size: int = 8, *, tail: bytes = b"") -> bytes:
    """As small as they can be."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for n in range(tensors):
        head[f"lora.{n}"] = {"dtype": "F32", "shape": [size // 4], "data_offsets": [n * size, (n + 1) * size]}
    return framed(msgspec.json.encode(head), bytes(tensors * size) + tail)


def framed(head: bytes, body: bytes = b"") -> bytes:
    return len(head).to_bytes(8, "little") + head + body
