"""JSON-RPC: questions as bytes, and which part of an answer belongs to which question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from glisk.chain.rpc.call import Call
from glisk.chain.rpc.classify import Faulty

encode = msgspec.json.Encoder().encode


class Envelope(msgspec.Struct):
    """`result` stays as it came: most of it is logs, read by whoever asked."""

    id: Any = None
    result: msgspec.Raw = msgspec.Raw()
    error: Any = None

    @property
    def has_result(self) -> bool:
        return self.error is None and len(memoryview(self.result)) > 0

    @property
    def code(self) -> int | None:
        found = self.error.get("code") if isinstance(self.error, dict) else None
        return int(found) if isinstance(found, int) or (isinstance(found, str) and is_number(found)) else None

    @property
    def message(self) -> str:
        if not isinstance(self.error, dict):
            return "" if self.error is None else str(self.error)
        data = self.error.get("data")
        return f"{self.error.get('message', '')}{f' {data}' if isinstance(data, str) and ' ' in data else ''}"


one, many = msgspec.json.Decoder(Envelope), msgspec.json.Decoder(list[Envelope])


def question(calls: Sequence[Call[Any]], first_id: int) -> bytes:
    """A single call is a plain object: some endpoints take no batches."""
    asked = [
        {"jsonrpc": "2.0", "id": first_id + index, "method": call.method, "params": list(call.params)}
        for index, call in enumerate(calls)
    ]
    return encode(asked[0] if len(asked) == 1 else asked)


def envelopes(body: bytes) -> list[Envelope] | Envelope:
    try:
        return many.decode(body) if body.lstrip()[:1] == b"[" else one.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Faulty(f"its answer is not JSON-RPC: {error}: {body[:80].decode(errors='replace')!r}") from error


def in_order(found: Sequence[Envelope], first_id: int, calls: int) -> list[Envelope]:
    """Answers of a batch come in any order."""
    by_id = {str(envelope.id): envelope for envelope in found}
    try:
        ordered = [by_id[str(first_id + index)] for index in range(calls)]
    except KeyError as error:
        raise Faulty(f"its answer has no part for call {error.args[0]} of {calls}") from error
    if len(found) > calls:
        raise Faulty(f"its answer has {len(found)} parts for {calls} calls")
    return ordered


def is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
