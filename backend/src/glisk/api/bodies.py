"""What somebody sends us as JSON: not more than it may be, and of the shape that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from fastapi import Request

from glisk.api import unfit
from glisk.errors import BadQuery, BodyTooLarge

T = TypeVar("T")


async def body_of(request: Request, kind: type[T], largest: int) -> T:
    """Raises BodyTooLarge as soon as it is, and BadQuery with what is wrong."""
    body = await bytes_of(request, largest)
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadQuery(f"{unfit.body(error, kind)}.") from None


def fitted(given: Mapping[str, Any], kind: type[T]) -> T:
    """The same, of what came as a form."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise BadQuery(f"{unfit.body(error, kind)}.") from None


async def bytes_of(request: Request, largest: int) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > largest:
            raise BodyTooLarge(f"At most {largest} bytes are taken.")
    return bytes(body)


def described(
    kind: type[Any], *further: str, example: Any = None, beside: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """For OpenAPI, which cannot see what is read by hand. `further`: other media types in which the same can be sent. `beside`: what
    can be sent along, and is read elsewhere."""
    (_,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    schema = written_out(parts[kind.__name__], parts)
    schema["properties"] = {**schema["properties"], **(beside or {})}
    content = {"schema": schema, **({} if example is None else {"example": example})}
    return {"requestBody": {"required": True, "content": dict.fromkeys(("application/json", *further), content)}}


def written_out(schema: Any, parts: Mapping[str, Any]) -> Any:
    """Parts of parts stand where they are named."""
    if isinstance(schema, list):
        return [written_out(each, parts) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return written_out(parts[schema["$ref"]], parts)
    return {name: written_out(each, parts) for name, each in schema.items()}
