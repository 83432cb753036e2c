"""A prediction as we know it, whatever the package makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Prediction(Struct, frozen=True):
    id: str
    status: str
    input: Mapping[str, Any]
    output: Any
    error: str | None
    logs: str
    seconds: float
    created_at: str
    version: str = ""
