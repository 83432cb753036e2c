"""What does it mean when Replicate says no? By status code and error code first, by its words last; one table each."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import httpx
import msgspec

from glisk import pauses
from glisk.errors import BadOrder, NotAllowed, ProviderError, ProviderFailed, RateLimited, Refused, Uncertain

Meaning: TypeAlias = Literal["policy", "transient", "not allowed", "bad order"]

BY_STATUS: dict[int, Meaning] = {
    400: "bad order",
    401: "not allowed",
    402: "not allowed",
    403: "not allowed",
    404: "bad order",
    405: "bad order",
    408: "transient",
    409: "transient",
    410: "bad order",
    413: "bad order",
    422: "bad order",
}
# In brackets at the end of a failed prediction's error.
BY_CODE: dict[str, Meaning] = {
    "E005": "policy",
    "PA": "transient",
    **dict.fromkeys(("E003", "E6716", "E8765", "E9828", "E1001", "E9243"), "transient"),
}
BY_TEXT: tuple[tuple[str, Meaning], ...] = (
    (r"nsfw", "policy"),
    (r"flagged as sensitive", "policy"),
    (r"flagged by the safety system", "policy"),
    (r"your input was rejected", "policy"),
    (r"content policy|safety filter|moderat", "policy"),
    (r"interrupted; please retry", "transient"),
    (r"high demand|unavailable|timed? ?out|unexpected error", "transient"),
)
# Nothing was sent when these are raised, so the order cannot have been taken.
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)
A_WHILE = timedelta(seconds=10)


class Problem(msgspec.Struct):
    """The body of an error answer (RFC 7807, more or less)."""

    title: Any = None
    detail: Any = None
    retry_after: Any = None


def answer(response: httpx.Response) -> ProviderError:
    """Of an answer that is an error. A server's stumble over a new order may come after it took the order."""
    status, problem = response.status_code, problem_in(response)
    said = words(problem) or f"Replicate answered {status} {response.reason_phrase}".strip()
    code, is_order = str(status), response.request.method == "POST"
    if status == 429:
        return RateLimited(said, after=pauses.asked(response, problem.retry_after) or A_WHILE, provider_code=code)
    meaning = BY_STATUS.get(status, "transient" if status >= 500 else "bad order")
    if meaning == "not allowed":
        return NotAllowed(f"Replicate does not let us in ({status}): {said.rstrip('.')}.", provider_code=code)
    if meaning == "bad order" and status == 404 and is_order:
        return NotAllowed(
            f"Replicate knows no such model (404): {said}. Set GLISK_REPLICATE_MODEL.", provider_code=code
        )
    if meaning == "bad order" and is_order:
        return BadOrder(f"Replicate cannot use this order ({status}): {said}", provider_code=code)
    kind = Uncertain if is_order else ProviderFailed
    return kind(f"Replicate stumbled ({status}): {said}", provider_code=code)


def broken(error: httpx.TransportError, method: str) -> ProviderError:
    """Of a connection that did not hold. What was sent may have been taken, unless it only asked; what was not sent can wait,
    and uses no attempt."""
    category = "timeout" if isinstance(error, httpx.TimeoutException) else "network"
    said = f"Network {category if category == 'timeout' else 'error'}: {error or type(error).__name__}"
    if isinstance(error, UNSENT):
        return RateLimited(
            f"Replicate cannot be reached. {said}", after=A_WHILE, category="network", provider_code="unreachable"
        )
    if method == "POST":
        return Uncertain(said, provider_code=category)
    return ProviderFailed(said, category=category, provider_code=category)


def failure(error: str, cost: Decimal | None = None) -> ProviderError:
    """Of a prediction that failed."""
    code, meaning = code_in(error), meaning_of(error)
    if meaning == "policy":
        return Refused(error, provider_code=code or "policy", cost=cost)
    return ProviderFailed(error, category="provider", provider_code=code, cost=cost)


def meaning_of(error: str) -> Meaning:
    """What nobody has seen before is tried again: the budget bounds it."""
    if known := BY_CODE.get(code_in(error) or ""):
        return known
    return next((meaning for text, meaning in BY_TEXT if re.search(text, error, re.IGNORECASE)), "transient")


def code_in(error: str) -> str | None:
    found = re.search(r"\((?:code: )?(E\d{3,4}|PA)\)", error)
    return found[1] if found else None


def problem_in(response: httpx.Response) -> Problem:
    try:
        return msgspec.json.decode(response.content, type=Problem)
    except msgspec.MsgspecError:
        return Problem()  # a page of whoever stands in front of it


def words(problem: Problem) -> str:
    parts = (problem.title, problem.detail)
    return ": ".join(re.sub(r"\s+", " ", part).strip() for part in parts if isinstance(part, str) and part.strip())
