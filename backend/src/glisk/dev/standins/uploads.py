"""What comes as a form: taken apart; and where it is a CAR, every block of it checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from glisk.errors import BadCid
from glisk.storage.ipfs import car


@dataclass(frozen=True, slots=True)
class Upload:
    """One part of a form. Without a type of its own a file is mere bytes, and a field is text."""

    name: str
    data: bytes
    mime: str = ""


def uploads(content_type: str, body: bytes) -> list[Upload]:
    """The parts of multipart/form-data, in their order."""
    found = re.search(r'boundary="?([^";]+)', content_type)
    parts = body.split(b"--" + found[1].encode())[1:-1] if found else []
    return [upload for part in parts if (upload := upload_in(part))]


def upload_in(part: bytes) -> Upload | None:
    head, _, data = part.partition(b"\r\n\r\n")
    name, mime = re.search(rb'[; ]name="([^"]*)"', head), re.search(rb"content-type: *([^\r\n;]+)", head, re.IGNORECASE)
    usual = b"application/octet-stream" if b"filename=" in head else b"text/plain"
    if name is None:
        return None
    return Upload(name[1].decode(), data.removesuffix(b"\r\n"), (mime[1] if mime else usual).strip().decode())


def form(content_type: str, body: bytes) -> dict[str, bytes]:
    """The fields by their names."""
    return {part.name: part.data for part in uploads(content_type, body)}


def text_in(parts: Iterable[Upload], name: str) -> str:
    return next((part.data.decode(errors="replace") for part in parts if part.name == name), "")


def unpacked(data: bytes) -> tuple[str, int]:
    """Its root, and how many bytes its blocks have. ValueError when one is missing, or is not what its CID says."""
    try:
        (root,), blocks = car.read(data)
    except BadCid as error:
        raise ValueError(f"invalid CAR: {error}") from error
    return root, sum(len(block.data) for block in blocks)
