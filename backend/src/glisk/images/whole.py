"""Is there a picture, and all of it? Told without decoding a pixel."""

from __future__ import annotations

from glisk.images.container import container


def is_whole(data: bytes) -> bool:
    try:
        return bool(container(data).parts(data))
    except ValueError:
        return False
