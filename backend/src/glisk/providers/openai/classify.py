"""What does it mean when OpenAI says no? By its error code first, by the status then; and when nobody can know."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import msgspec

from glisk import pauses
from glisk.errors import BadOrder, NotAllowed, OutcomeUnknown, ProviderError, RateLimited, Refused

Kind = Callable[..., ProviderError]
BY_CODE: dict[str, type[ProviderError]] = {
    **dict.fromkeys(("moderation_blocked", "content_policy_violation"), Refused),
    **dict.fromkeys(("invalid_api_key", "insufficient_quota", "billing_hard_limit_reached"), NotAllowed),
    **dict.fromkeys(("account_deactivated", "model_not_found", "billing_not_active"), NotAllowed),
}
NOT_ALLOWED = (401, 402, 403, 404)
NOBODY_KNOWS = (408, 409)  # and all from 500 on
LIMITED = 429
# Nothing was sent when these are raised, so nothing can have been charged.
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)
A_WHILE = timedelta(seconds=20)
TOLD = 400  # characters of what it said
UNKNOWN = "It may have been charged, and nobody can find out from here. Look at the account's usage; only a person tries it again."


@dataclass(frozen=True, slots=True)
class Voice:
    """Who was asked, and for what."""

    who: str = "OpenAI"
    what: str = "edit"


EDITING = Voice()


class Problem(msgspec.Struct):
    message: Any = None
    type: Any = None
    code: Any = None


class Body(msgspec.Struct):
    error: Problem | None = None


def answer(response: httpx.Response, voice: Voice = EDITING) -> ProviderError:
    """Of an answer that is an error."""
    status, problem = response.status_code, problem_in(response)
    code = problem.code if isinstance(problem.code, str) else str(status)
    said = f"{words(problem) or response.reason_phrase or status}{request_id(response)}"
    if kind := BY_CODE.get(code):
        return told(kind, status, said, code, voice)
    if status == LIMITED:
        after = pauses.asked(response) or A_WHILE
        return RateLimited(f"{voice.who} asks for a pause: {said}", after=after, provider_code=str(LIMITED))
    if status >= 500 or status in NOBODY_KNOWS:
        return unknown(f"{voice.who} stumbled ({status}): {said}", code)
    return told(NotAllowed if status in NOT_ALLOWED else BadOrder, status, said, code, voice)


def told(kind: type[ProviderError], status: int, said: str, code: str, voice: Voice) -> ProviderError:
    begins = {
        Refused: f"{voice.who} refuses the {voice.what} as against its content policy",
        NotAllowed: f"{voice.who} does not let us in ({status})",
    }
    usual = f"{voice.who} cannot use this {voice.what} ({status})"
    return kind(f"{begins.get(kind, usual)}: {said}", provider_code=code)


def broken(error: httpx.TransportError | TimeoutError, place: str, voice: Voice = EDITING) -> ProviderError:
    """Of a connection that did not hold. What was not sent can wait, and uses no attempt."""
    is_late = isinstance(error, httpx.TimeoutException | TimeoutError)
    seen = str(error) or type(error).__name__
    if isinstance(error, UNSENT):
        said = f"{voice.who} at {place} cannot be reached: {seen}"
        return RateLimited(said, after=A_WHILE, category="network", provider_code="unreachable")
    if is_late:
        return unknown(f"{voice.who} was asked and did not answer in time.", "timeout")
    return unknown(f"The connection to {voice.who} broke before its answer was here: {seen}.", "network")


def unknown(said: str, code: str) -> OutcomeUnknown:
    return OutcomeUnknown(f"{said.rstrip('.')}. {UNKNOWN}", provider_code=code)


def problem_in(response: httpx.Response) -> Problem:
    try:
        return msgspec.json.decode(response.content, type=Body).error or Problem()
    except msgspec.MsgspecError:
        return Problem()  # a page of whoever stands in front of it


def words(problem: Problem) -> str:
    """Without the key, of which it shows a part when it is wrong."""
    said = re.sub(r"\s+", " ", problem.message).strip() if isinstance(problem.message, str) else ""
    return re.sub(r"\bsk-[\w*-]+", "sk-***", said)[:TOLD]


def request_id(response: httpx.Response) -> str:
    found = response.headers.get("x-request-id", "")
    return f" (request {found})" if re.fullmatch(r"[\w-]{1,80}", found) else ""
