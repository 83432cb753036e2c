"""Parts of a request."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import msgspec


def given(**parts: Any) -> dict[str, Any]:
    """What is None is not said."""
    return {name: value for name, value in parts.items() if value is not None}


def once(body: dict[str, Any], key: str | None) -> dict[str, Any]:
    """What is sent under this key is done once, however often it is sent."""
    return as_json(body, **{"Idempotency-Key": key or str(uuid4())})


def as_json(body: dict[str, Any], **headers: str) -> dict[str, Any]:
    return {"content": msgspec.json.encode(body), "headers": {"Content-Type": "application/json", **headers}}
