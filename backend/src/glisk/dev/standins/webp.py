"""Writes a lossless WebP from a pattern and a palette, in two halves: the costly one does not depend on the palette.

An encoder takes 15 ms for a picture and there are five hundred at once. Here the palette has a fixed place in the stream,
so a picture in other colours is the same stream with that place overwritten. Only what this needs of the format is
written: one palette of 256, no prediction, and rows that repeat the one above them.
https://developers.google.com/speed/webp/docs/webp_lossless_bitstream_specification
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Bits = NDArray[np.uint8]  # zeros and ones, in the order of the stream

CODE_LENGTHS_IN_ORDER = (17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9)
ONLY_ZERO = [1, 0, 0, 0]  # a code with one symbol, 0, which takes no bits
ZERO_OR_255 = [1, 1, 0, 0, *[1] * 8]  # a code with these two symbols, of one bit each


@dataclass(frozen=True, slots=True)
class Template:
    head: Bits
    tail: Bits

    def filled(self, palette: Bytes) -> bytes:
        """`palette` is 256 times red, green and blue."""
        steps = np.diff(palette[:, [1, 0, 2]], axis=0, prepend=np.zeros((1, 3), np.uint8))
        opaque = np.zeros((256, 1), np.uint8)
        opaque[0] = 1  # and the others differ from it by nothing
        colours = np.hstack([np.unpackbits(steps, axis=1), opaque]).ravel()
        return contained(np.packbits(np.concatenate([self.head, colours, self.tail]), bitorder="little").tobytes())


def template(rows: Bytes, height: int, repeat: int) -> Template:
    """Each row stands `repeat` times, the last one until the height is reached."""
    width = rows.shape[1]
    head = [*number(0x2F, 8), *number(width - 1, 14), *number(height - 1, 14), *number(0, 4)]
    head += [1, *number(3, 2), *number(255, 8), 0, *any_byte(280), *2 * any_byte(256), *ZERO_OR_255, *ONLY_ZERO]
    codes, again = row_codes(width)
    literal = np.ones((*rows.shape, 9), np.uint8)
    literal[:, :, 1:] = np.unpackbits(rows[:, :, None], axis=2)
    body = [
        part for y, row in enumerate(literal) for part in (row.ravel(), again * (min(repeat, height - y * repeat) - 1))
    ]
    tail = [as_bits([0, 0, 0, *codes, *4 * ONLY_ZERO]), *(as_bits(part) for part in body)]
    return Template(as_bits(head), np.concatenate(tail))


def any_byte(alphabet: int) -> list[int]:
    """A code in which the first 256 symbols have eight bits each, and the others none."""
    ends_there = [0] if alphabet == 256 else [1, *number(3, 3), *number(256 - 2, 8)]
    return [0, *code_lengths({8: 1}), *ends_there]


def row_codes(width: int) -> tuple[list[int], list[int]]:
    """The code of the pattern: a byte has nine bits, and one bit begins a copy of the row above."""
    log = (width - 1).bit_length() - 1
    symbol = 256 + 2 * log + ((width - 1) >> (log - 1) & 1)
    extra = number((width - 1) & ((1 << (log - 1)) - 1), log - 1)
    lengths = [0] * 256 + [1, 0] * (symbol - 256) + [1, 1]  # nine is 0, none is 10, one is 11
    return [0, *code_lengths({9: 1, 0: 2, 1: 2}), 1, *number(4, 3), *number(symbol + 1 - 2, 10), *lengths], [0, *extra]


def code_lengths(used: dict[int, int]) -> list[int]:
    listed = CODE_LENGTHS_IN_ORDER[: max(CODE_LENGTHS_IN_ORDER.index(length) for length in used) + 1]
    return [*number(len(listed) - 4, 4), *(bit for length in listed for bit in number(used.get(length, 0), 3))]


def number(value: int, size: int) -> list[int]:
    return [value >> place & 1 for place in range(size)]


def as_bits(bits: Sequence[int] | Bits) -> Bits:
    return np.asarray(bits, np.uint8)


def contained(stream: bytes) -> bytes:
    padded = stream + b"\0" * (len(stream) % 2)
    return struct.pack("<4sI8sI", b"RIFF", len(padded) + 12, b"WEBPVP8L", len(stream)) + padded
