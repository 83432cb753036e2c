"""Endpoints as people may see them: told apart, and without the keys that most have in their address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from glisk.addresses import shown_node

PLAIN = re.compile(r"v\d+|[a-z]{1,15}([-_][a-z]{1,12}){0,3}|[0-9]{1,6}|[CXP]")


def unique(urls: Sequence[str]) -> list[str]:
    """Two keys of one provider may look alike."""
    names = [shown_node(url) for url in urls]
    return [
        name if names.count(name) == 1 else f"{name}#{names[: index + 1].count(name)}"
        for index, name in enumerate(names)
    ]


def without_secrets(text: str, url: str) -> str:
    """Some providers repeat in their errors the key they were given."""
    parts = urlsplit(url)
    pieces = [*parts.path.split("/"), *re.split(r"[&=]", parts.query), parts.username or "", parts.password or ""]
    for piece in pieces:
        if len(piece) > 3 and not is_plain(piece):
            text = text.replace(piece, f"{piece[:4]}…")
    return text


def is_plain(piece: str) -> bool:
    return not piece or PLAIN.fullmatch(piece) is not None
