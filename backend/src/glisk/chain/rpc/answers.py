"""What a response to a request comes to: one result for each call, or the trouble that says more than the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from glisk.chain.rpc import wire
from glisk.chain.rpc.call import Call, NotThere, RangeTooWide, Refused, Rejected, RpcTrouble
from glisk.chain.rpc.classify import LOGS, BatchRefused, Faulty, RateLimited, trouble
from glisk.chain.rpc.wire import Envelope

# Of several troubles in one batch the first of these is told: what can be mended by waiting, by asking for less or elsewhere.
TELLING: tuple[type[RpcTrouble], ...] = (RateLimited, BatchRefused, RangeTooWide, Faulty, NotThere, Refused, Rejected)
NO_BATCHES = (400, 405, 413, 415, 422, 501)
UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, msgspec.MsgspecError)


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


def results(response: Response, calls: Sequence[Call[Any]], first_id: int) -> list[Any]:
    parts = parts_of(response, calls)
    raise_first([problem(response, part, "", calls) for part in parts if part.error is not None], BatchRefused)
    found = [result(response, call, part) for call, part in zip(calls, ordered(parts, calls, first_id), strict=True)]
    raise_first([each for each in found if isinstance(each, RpcTrouble)], *TELLING)
    return found


def parts_of(response: Response, calls: Sequence[Call[Any]]) -> list[Envelope]:
    try:
        found = wire.envelopes(response.body)
    except Faulty as fault:
        raise fault if response.status == 200 else of_status(response, calls) from fault
    parts = found if isinstance(found, list) else [found]
    if len(parts) == 1 and parts[0].error is None and response.status != 200:
        raise of_status(response, calls)
    if len(calls) > 1 and (not isinstance(found, list) or (len(parts) == 1 and parts[0].error is not None)):
        raise whole(response, parts[0], calls)
    return parts


def ordered(parts: Sequence[Envelope], calls: Sequence[Call[Any]], first_id: int) -> Sequence[Envelope]:
    """Who could not read a question does not know its id."""
    is_lone_error = len(calls) == len(parts) == 1 and parts[0].error is not None
    return parts if is_lone_error else wire.in_order(parts, first_id, len(calls))


def whole(response: Response, part: Envelope, calls: Sequence[Call[Any]]) -> RpcTrouble:
    """One answer to a batch. Who does not say what was wrong with it may take smaller ones, or none."""
    if part.error is None:
        return Faulty("it answered a batch with one result")
    method = LOGS if any(call.method == LOGS for call in calls) else "?"
    found = problem(response, part, method, calls)
    return BatchRefused(str(found)) if isinstance(found, Refused) else found


def of_status(response: Response, calls: Sequence[Call[Any]]) -> RpcTrouble:
    """Of an answer by somebody before the node, who speaks no JSON-RPC."""
    if response.status in NO_BATCHES and len(calls) > 1:
        return BatchRefused(f"it answered {response.status}")
    return trouble(response.status, response.headers, None, "", method="?")


def result(response: Response, call: Call[Any], part: Envelope) -> Any:
    """Trouble is returned, not raised: the other calls of the batch may have worse."""
    if part.error is not None or not part.has_result:
        found = (
            problem(response, part, call.method, [call]) if part.error is not None else Faulty("it left out a result")
        )
        return None if call.may_fail and isinstance(found, Refused | NotThere) else found
    try:
        return call.read(part.result)
    except UNREADABLE as error:
        return Faulty(f"its answer to {call.method} cannot be read: {error}")


def problem(response: Response, part: Envelope, method: str, calls: Sequence[Call[Any]]) -> RpcTrouble:
    return trouble(response.status, response.headers, part.code, part.message, method=method, calls=len(calls))


def raise_first(found: Sequence[RpcTrouble], *kinds: type[RpcTrouble]) -> None:
    for kind in kinds:
        if hit := next((each for each in found if isinstance(each, kind)), None):
            raise hit
