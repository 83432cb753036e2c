"""Pictures that people bring along, and how they upload them."""

from __future__ import annotations

import base64
import io
from functools import cache

import httpx
from PIL import Image


@cache
def a_picture(n: int = 0, format: str = "png", size: tuple[int, int] = (8, 8)) -> bytes:
    """A small one; another number, another picture."""
    file = io.BytesIO()
    Image.new("RGB", size, (n % 256, 80, 160)).save(file, format)
    return file.getvalue()


def as_data_url(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


async def upload(client: httpx.AsyncClient, *files: tuple[str, bytes], user: str | None = None) -> httpx.Response:
    given = [("imageFiles", (name, data, "application/octet-stream")) for name, data in files]
    return await client.post("/upload", files=given, data={} if user is None else {"userId": user})
