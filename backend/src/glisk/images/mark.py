"""The mark that tells anybody's software that a picture was made by AI: IPTC's digital source type, as XMP."""

from __future__ import annotations

from glisk.images import xmp
from glisk.images.container import container


def presentable(data: bytes) -> bytes:
    """As the world may have it: its pixels, its colours and the mark. Who draws may write the prompt into the file, and it is for the
    author to say whether that is told."""
    format = container(data)
    return marked(format.wordless(format.parts(data)))


def marked(data: bytes) -> bytes:
    """The file with the mark spliced in: no pixel is decoded, and what is marked stays as it is. A packet of XMP that the
    file had keeps what it says; of several, the first is kept. A file that is none, or is broken, is a ValueError."""
    format = container(data)
    parts = format.parts(data)
    packets = format.packets(parts)
    if len(packets) == 1 and xmp.carries(packets[0]):
        return data
    return format.spliced(parts, xmp.merged(packets[0]) if packets else xmp.PACKET)


def is_marked(data: bytes) -> bool:
    try:
        format = container(data)
        packets = format.packets(format.parts(data))
    except ValueError:
        return False
    return len(packets) == 1 and xmp.carries(packets[0])
