"""An endpoint's address as people may see it: the keys of most providers are in its path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

PLAIN = re.compile(r"v\d+|[a-z]{1,15}([-_][a-z]{1,12}){0,3}|[0-9]{1,6}|[CXP]")


def shown(url: str) -> str:
    parts = urlsplit(url)
    path = "/".join(piece if is_plain(piece) else f"{piece[:4]}…" for piece in parts.path.strip("/").split("/"))
    return f"{parts.scheme}://{place(parts)}{'/' if path else ''}{path}{'?…' if parts.query else ''}"


def unique(urls: Sequence[str]) -> list[str]:
    """Two keys of one provider may look alike."""
    names = [shown(url) for url in urls]
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


def place(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]
