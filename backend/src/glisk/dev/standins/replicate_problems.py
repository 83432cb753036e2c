"""Replicate's refusals, word for word where the words are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from http import HTTPStatus

from starlette.responses import Response

from glisk.dev.standins.base import as_json
from glisk.dev.standins.replicate_models import Fault

PROBLEM = "application/problem+json"
BILLING = "https://replicate.com/account/billing"
SPEND_LIMIT = f"You've hit your monthly spend limit. You can change or remove your limit at {BILLING}#limits."
# Title and detail. Those of 400, 403 and 404 were not recorded word for word.
WORDS = {
    400: ("Bad request", "The request could not be understood."),
    401: ("Unauthenticated", "You did not pass a valid authentication token"),
    402: (
        "Insufficient credit",
        f"You have insufficient credit to run this model. Go to {BILLING}#billing to purchase credit. "
        "Once you purchase credit, please wait a few minutes before trying again.",
    ),
    403: ("Forbidden", "You do not have permission to perform this action."),
    404: ("Not found", "The requested resource could not be found."),
    422: (
        "Invalid version or not permitted",
        "The specified version does not exist (or perhaps you don't have permission to use it?)",
    ),
}


def problem(status: int, detail: str | None = None) -> Response:
    title, usual = WORDS.get(status, (phrase(status), phrase(status)))
    return as_json({"title": title, "detail": detail or usual, "status": status}, status, PROBLEM)


def throttled(seconds: int, detail: str | None = None) -> Response:
    usual = f"Request was throttled. Your rate limit resets in ~{seconds}s."
    response = as_json({"detail": detail or usual, "status": 429, "retry_after": seconds}, 429, PROBLEM)
    response.headers["Retry-After"] = str(seconds)
    return response


def reduced(per_minute: int, burst: int, seconds: int) -> str:
    """What is said to those who have little credit left."""
    return (
        f"Request was throttled. Your rate limit for creating predictions is reduced to {per_minute} requests per "
        f"minute with a burst of {burst} requests while you have less than $5.0 in credit. "
        f"Your rate limit resets in ~{seconds}s."
    )


def invalid(faults: Sequence[Fault]) -> Response:
    lines = [f"- {fault.field}: {fault.description}" if fault.field else f"- {fault.description}" for fault in faults]
    content = {
        "detail": "".join(f"{line}\n" for line in lines),
        "status": 422,
        "title": "Input validation failed",
        "invalid_fields": [asdict(fault) for fault in faults],
    }
    return as_json(content, 422, PROBLEM)


def page(status: int) -> Response:
    """What a proxy in front of them says when they do not answer: no JSON."""
    title = f"{status} {phrase(status)}"
    text = f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n</body></html>"
    return Response(text, status, media_type="text/html; charset=UTF-8")


def phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else "Error"
