"""What comes to a pinning service: a form with a CAR in it, taken apart, and every block of it checked."""

from __future__ import annotations

import re

from glisk.errors import BadCid
from glisk.storage.ipfs import car


def form(content_type: str, body: bytes) -> dict[str, bytes]:
    """The fields of multipart/form-data by their names."""
    found = re.search(r'boundary="?([^";]+)', content_type)
    fields = {}
    for part in body.split(b"--" + found[1].encode())[1:-1] if found else ():
        head, _, data = part.partition(b"\r\n\r\n")
        if name := re.search(rb'[; ]name="([^"]*)"', head):
            fields[name[1].decode()] = data.removesuffix(b"\r\n")
    return fields


def unpacked(data: bytes) -> tuple[str, int]:
    """Its root, and how many bytes its blocks have. ValueError when one is missing, or is not what its CID says."""
    try:
        (root,), blocks = car.read(data)
    except BadCid as error:
        raise ValueError(f"invalid CAR: {error}") from error
    return root, sum(len(block.data) for block in blocks)
