"""What is wrong with a part of a request, in our words: what checks it for us speaks to programmers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

# By pydantic's names of what is wrong.
WANTED = {
    "missing": "it is missing",
    "greater_than_equal": "{ge} or more is wanted",
    "less_than_equal": "{le} or less is wanted",
    "literal_error": "{expected} is wanted",
    "enum": "{expected} is wanted",
    "value_error": "{error}",
    "string_too_long": "at most {max_length} characters are wanted",
}
NUMBER, UNKNOWN = "a whole number is wanted", "this cannot be used"
PLACE = re.compile(r"at `\$\.(\w+)")
MISSING, STRANGE = re.compile(r"missing required field `(\w+)`"), re.compile(r"unknown field `(.*)`")


def parameter(error: Mapping[str, Any]) -> str:
    """One of pydantic's errors: `limit: a whole number is wanted`."""
    name = ".".join(map(str, error["loc"][1:])) or error["loc"][0]
    kind = str(error["type"])
    wanted = NUMBER if kind.startswith("int_") else WANTED.get(kind, UNKNOWN)
    return f"{name}: {wanted.format(**error.get('ctx', {}))}"


def body(error: Exception, kind: type[Any]) -> str:
    """One of msgspec's errors about a body that was to be a `kind`, whose fields say by their descriptions what is wanted."""
    if not isinstance(error, msgspec.ValidationError):
        return "The body: JSON is wanted, in whole characters of UTF-8"
    said = str(error)
    if found := MISSING.search(said):
        return f"{found[1]}: it is missing"
    if found := STRANGE.search(said):
        return f"{found[1][:50]}: there is no such field"
    if found := PLACE.search(said):
        return f"{found[1]}: {meaning(kind, found[1])} is wanted"
    return "The body: an object is wanted, { … }"


def meaning(kind: type[Any], field: str) -> str:
    _, parts = msgspec.json.schema_components([kind], ref_template="#/{name}")
    found = parts[kind.__name__]["properties"].get(field, {})
    ways = [found, *found.get("anyOf", ())]  # one that may be left out is described beside its absence
    return next((str(way["description"]) for way in ways if "description" in way), "something else")
