"""Requests that may come twice: whoever did not hear our answer sends the same again, and gets the same."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec import Struct

from glisk.engine.store import Fetch, encode
from glisk.errors import KeyReused

REMEMBER = """
    INSERT INTO requests (owner, key, request_sha256, item_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING item_id"""
RECALL = """
    SELECT r.request_sha256, j.id, j.job_id FROM requests r JOIN jobs j ON j.id = r.item_id WHERE r.owner = $1 AND r.key = $2"""


class Asked(Struct, frozen=True):
    """`key`: what the client calls its request. Two who call theirs alike do not meet: each owner has their own."""

    owner: str
    key: str
    digest: bytes


class AskedBefore(Exception):
    """The job of this request is there, or being made by somebody who was quicker. Nothing of the caller's may stay."""


def asked(owner: str, key: str, body: Any) -> Asked:
    return Asked(owner, key, sha256(encode(body)).digest())


async def remember(fetch: Fetch, request: Asked, item_id: int) -> None:
    """In the transaction that makes the job. Of two at once the second waits here for the first, and then raises AskedBefore."""
    if not await fetch(REMEMBER, request.owner, request.key, request.digest, item_id):
        raise AskedBefore


async def recall(fetch: Fetch, request: Asked) -> Any | None:
    """The job that came of it: `id` and `job_id`. Raises KeyReused, if that request was another one."""
    row = next(iter(await fetch(RECALL, request.owner, request.key)), None)
    if row is not None and row["request_sha256"] != request.digest:
        raise KeyReused
    return row
