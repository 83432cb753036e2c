"""PNG: a signature, then chunks, each with its checksum."""

from __future__ import annotations

import struct
import zlib

from glisk.images.part import Part, joined, require_few, unnamed

SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEYWORD = b"XML:com.adobe.xmp\0"
PIXELS = {b"", b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"}
COLOURS = {b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT", b"bKGD", b"pHYs", b"cICP", b"mDCV", b"cLLI"}
MOST_TEXT = 1 << 20  # of a packet that is compressed


def parts(data: bytes) -> list[Part]:
    """All of the file in its order: IHDR comes second, after the signature."""
    view, at = memoryview(data), len(SIGNATURE)
    found = [unnamed(view[:at])]
    while found[-1].name != b"IEND":
        found.append(chunk(view, at))
        require_few(found)
        at += len(found[-1].whole)
    check([part.name for part in found[1:]], found[1].body)
    return [*found, unnamed(view[at:])]


def check(names: list[bytes], header: memoryview) -> None:
    """One header and no more: a decoder may believe the last of them."""
    if names[0] != b"IHDR" or names.count(b"IHDR") > 1 or len(header) != 13 or b"IDAT" not in names:
        raise ValueError("The PNG has no header, more than one, or no pixels")


def chunk(view: memoryview, at: int) -> Part:
    if at + 12 > len(view) or (end := at + 12 + u32(view, at)) > len(view):
        raise ValueError("The PNG is truncated")
    if zlib.crc32(view[at + 4 : end - 4]) != u32(view, end - 4):
        raise ValueError("A chunk of the PNG has a wrong checksum")
    return Part(bytes(view[at + 4 : at + 8]), view[at + 8 : end - 4], view[at:end])


def size(parts: list[Part]) -> tuple[int, int]:
    return u32(parts[1].body, 0), u32(parts[1].body, 4)


def is_still(parts: list[Part]) -> bool:
    return all(part.name != b"acTL" for part in parts)


def bare(parts: list[Part]) -> bytes:
    return joined(part for part in parts if part.name in PIXELS)


def wordless(parts: list[Part]) -> bytes:
    return joined(part for part in parts[:-1] if part.name in PIXELS | COLOURS)


def packets(parts: list[Part]) -> list[bytes]:
    return [text(bytes(part.body)) for part in parts if is_packet(part)]


def spliced(parts: list[Part], packet: bytes) -> bytes:
    """Right behind the header: before the pixels, and where it is found soonest."""
    others = joined(part for part in parts[2:] if not is_packet(part))
    return joined(parts[:2]) + built(b"iTXt", KEYWORD + b"\0\0\0\0" + packet) + others


def is_packet(part: Part) -> bool:
    return part.name == b"iTXt" and bytes(part.body[: len(KEYWORD)]) == KEYWORD


def text(body: bytes) -> bytes:
    """Of an iTXt chunk, behind two flags, a language and a translated keyword; nothing if that is not how it is built."""
    flags, rest = body[len(KEYWORD) : len(KEYWORD) + 2], body[len(KEYWORD) + 2 :]
    packet = rest.split(b"\0", 2)[-1]
    if flags[:1] != b"\1":
        return packet
    try:
        return zlib.decompressobj().decompress(packet, MOST_TEXT)
    except zlib.error:
        return b""


def built(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def u32(view: memoryview, at: int) -> int:
    return int.from_bytes(view[at : at + 4], "big")
