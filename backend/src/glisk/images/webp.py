"""WebP: chunks of even length in a RIFF file. Metadata needs the extended form, whose first chunk is VP8X."""

from __future__ import annotations

import struct

from glisk.images.part import Part, joined, require_few, unnamed

ALPHA, HAS_EXIF, HAS_XMP, ANIMATED = 0x10, 0x08, 0x04, 0x02
PIXELS = {b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP"}


def parts(data: bytes) -> list[Part]:
    """All of the file in its order: the chunk that says the size comes second, after the header."""
    view, at, end = memoryview(data), 12, 8 + u32(memoryview(data), 4)
    if end > len(view):
        raise ValueError("The WebP is truncated")
    found = [unnamed(view[:at])]
    while at < end:
        found.append(chunk(view[:end], at))
        require_few(found)
        at += len(found[-1].whole)
    size(found)
    return [*found, unnamed(view[end:])]


def chunk(view: memoryview, at: int) -> Part:
    length = u32(view, at + 4)
    if at + 8 + length > len(view):
        raise ValueError("A chunk of the WebP is truncated")
    end = at + 8 + length
    return Part(bytes(view[at : at + 4]), view[at + 8 : end], view[at : end + length % 2])


def size(parts: list[Part]) -> tuple[int, int]:
    match parts[1:2]:
        case [Part(b"VP8X", body)] if len(body) >= 10:
            return 1 + u24(body, 4), 1 + u24(body, 7)
        case [Part(b"VP8L", body)] if len(body) >= 5 and body[0] == 0x2F:
            return 1 + u32(body, 1) % (1 << 14), 1 + (u32(body, 1) >> 14) % (1 << 14)
        case [Part(b"VP8 ", body)] if len(body) >= 10 and bytes(body[3:6]) == b"\x9d\x01\x2a":
            return max(1, u32(body, 6) % (1 << 14)), max(1, (u32(body, 6) >> 16) % (1 << 14))
        case _:
            raise ValueError("The WebP has no header")


def is_still(parts: list[Part]) -> bool:
    return not flags(parts) & ANIMATED


def bare(parts: list[Part]) -> bytes:
    """As it is: its decoder looks at no metadata."""
    return joined(parts)


def wordless(parts: list[Part]) -> bytes:
    kept = [even(bytes(part.whole)) for part in parts[1:-1] if part.name in PIXELS]
    if parts[1].name == b"VP8X":
        body = bytes(parts[1].body)
        kept[0] = built(b"VP8X", bytes([body[0] & ~(HAS_EXIF | HAS_XMP)]) + body[1:])
    whole = b"WEBP" + b"".join(kept)
    return b"RIFF" + struct.pack("<I", len(whole)) + whole


def packets(parts: list[Part]) -> list[bytes]:
    """Without its flag, no reader looks for one."""
    return [bytes(part.body) for part in parts if part.name == b"XMP " and flags(parts) & HAS_XMP]


def spliced(parts: list[Part], packet: bytes) -> bytes:
    width, height = size(parts)
    canvas = bytes([flags(parts) | HAS_XMP, 0, 0, 0]) + u24_bytes(width - 1) + u24_bytes(height - 1)
    others = [even(bytes(part.whole)) for part in parts[1:-1] if part.name not in (b"VP8X", b"XMP ")]
    body = b"WEBP" + b"".join([built(b"VP8X", canvas), *others, built(b"XMP ", packet)])
    return b"RIFF" + struct.pack("<I", len(body)) + body + bytes(parts[-1].whole)


def flags(parts: list[Part]) -> int:
    """Those of the extended form; what they would be, if it is not extended."""
    first = parts[1]
    if first.name == b"VP8X":
        return first.body[0]
    return ALPHA if first.name == b"VP8L" and u32(first.body, 1) >> 28 & 1 else 0


def built(name: bytes, body: bytes) -> bytes:
    return even(name + struct.pack("<I", len(body)) + body)


def even(chunk: bytes) -> bytes:
    """Some writers forget the zero that fills up the last one."""
    return chunk + b"\0" * (len(chunk) % 2)


def u24(view: memoryview, at: int) -> int:
    return int.from_bytes(view[at : at + 3], "little")


def u24_bytes(value: int) -> bytes:
    return value.to_bytes(3, "little")


def u32(view: memoryview, at: int) -> int:
    return int.from_bytes(view[at : at + 4], "little")
