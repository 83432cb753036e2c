"""JSON in one way only, so that the same value has the same bytes, the same hash and the same CID, whoever writes it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

LARGEST = 2**53 - 1  # what every reader of JSON keeps exactly; a larger number is written as text


def canonical(value: Any) -> bytes:
    """UTF-8, keys in the order of their code points, no spaces. ValueError says why a value has no such form."""
    try:
        return json.dumps(
            plain(value), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
        ).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def digest(value: Any) -> bytes:
    return sha256(canonical(value)).digest()


def plain(value: Any) -> Any:
    """Of numbers that are equal only one is left: 1.0 is 1."""
    match value:
        case None | bool() | str():
            return value
        case dict():
            return {name(key): plain(each) for key, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case float():
            return int(value) if value.is_integer() and abs(value) <= LARGEST else value
        case int() if abs(value) <= LARGEST:
            return value
        case int():
            raise ValueError("a whole number beyond 2^53 is written as text")
        case _:
            raise ValueError(f"JSON has no {type(value).__name__}")


def name(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError("the keys of an object are text")
    return key
