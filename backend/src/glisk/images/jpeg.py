"""JPEG: segments up to the first scan, then scans to the end."""

from __future__ import annotations

from glisk.images.part import Part, joined, require_few, unnamed

EOI, SOS, APP0, APP1 = b"\xd9", b"\xda", b"\xe0", b"\xe1"
ALONE = {bytes([marker]) for marker in (*range(0xC0), *range(0xD0, 0xDA))}  # markers that no segment has
FRAMES = {bytes([marker]) for marker in range(0xC0, 0xD0)} - {b"\xc4", b"\xc8", b"\xcc"}
# Metadata that a decoder can do without, and might stumble over: all but JFIF and Adobe's, which say what the colours are.
ASIDE = {bytes([marker]) for marker in range(0xE1, 0xF0)} - {b"\xee"} | {b"\xfe"}
ICC = b"ICC_PROFILE\0"
XMP, EXIF = b"http://ns.adobe.com/xap/1.0/\0", b"Exif\0"


def parts(data: bytes) -> list[Part]:
    """All of the file in its order; the scans are one part."""
    view, at = memoryview(data), 2
    found = [unnamed(view[:at])]
    while found[-1].name != SOS:
        found.append(segment(view, at))
        require_few(found)
        at += len(found[-1].whole)
    # 0xFF is followed by zero where it is part of the pixels: nothing else looks like the end.
    if data.rfind(b"\xff" + EOI, at) < 0:
        raise ValueError("The JPEG is truncated")
    if [len(part.body) >= 6 for part in found if part.name in FRAMES] != [True]:
        raise ValueError("The JPEG has no header, or more than one")
    return [*found, unnamed(view[at:])]


def segment(view: memoryview, at: int) -> Part:
    start = at
    while bytes(view[at : at + 2]) == b"\xff\xff":  # any number of these may stand before a marker
        at += 1
    name, length = bytes(view[at + 1 : at + 2]), u16(view, at + 2)
    end = at + 2 + length
    if at + 4 > len(view) or view[at] != 0xFF or name in ALONE or length < 2 or end > len(view):
        raise ValueError("The JPEG is truncated or broken")
    return Part(name, view[at + 4 : end], view[start:end])


def size(parts: list[Part]) -> tuple[int, int]:
    frame = next(part.body for part in parts if part.name in FRAMES)
    return u16(frame, 3), u16(frame, 1)


def is_still(parts: list[Part]) -> bool:
    return True


def bare(parts: list[Part]) -> bytes:
    return joined(part for part in parts if part.name not in ASIDE)


def wordless(parts: list[Part]) -> bytes:
    """Up to the end of the last scan; the profile of the colours stays."""
    *segments, scans = [part for part in parts if part.name not in ASIDE or bytes(part.body[: len(ICC)]) == ICC]
    pixels = bytes(scans.whole)
    return joined(segments) + pixels[: pixels.rfind(b"\xff" + EOI) + 2]


def packets(parts: list[Part]) -> list[bytes]:
    return [bytes(part.body[len(XMP) :]) for part in parts if is_packet(part)]


def spliced(parts: list[Part], packet: bytes) -> bytes:
    """Behind JFIF and EXIF, each of which wants to be first."""
    body = XMP + packet
    built = b"\xff" + APP1 + (len(body) + 2).to_bytes(2, "big") + body
    others = [part for part in parts if not is_packet(part)]
    place = next(n for n, part in enumerate(others) if n and not is_opening(part))
    return joined(others[:place]) + built + joined(others[place:])


def is_packet(part: Part) -> bool:
    return part.name == APP1 and bytes(part.body[: len(XMP)]) == XMP


def is_opening(part: Part) -> bool:
    return part.name == APP0 or (part.name == APP1 and bytes(part.body[: len(EXIF)]) == EXIF)


def u16(view: memoryview, at: int) -> int:
    return int.from_bytes(view[at : at + 2], "big")
