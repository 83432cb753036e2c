"""Tokens as seed 003 works with them: find, claim, and write down how the drawing went.

Every change runs the engine's own statements and decisions, fenced by the token's epoch: there is one state machine.
"""

from __future__ import annotations

import os
import random
import re
import socket
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm.attributes import set_committed_value
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from glisk.db.models import Token
from glisk.db.session import fetching
from glisk.engine import store
from glisk.engine.decide import Done, Fail, Retry, Row, Verdict, decide
from glisk.errors import BadImageUrl, LeaseLost, WrongStatus
from glisk.workflows import TOKEN, TOKENS

WAITING = "detected"
LEASE = timedelta(seconds=60)


class TokenRepository:
    def __init__(self, session: AsyncSession, worker: str = "") -> None:
        self.session = session
        self.worker = worker or f"{socket.gethostname()}:{os.getpid()}"
        self.fetch = fetching(session)

    async def find_for_generation(self, limit: int = 10) -> list[Token]:
        """The next tokens to draw, locked until the session's transaction ends. `claim_for_generation` outlives it."""
        return await self._load(await store.pick(self.fetch, TOKEN, WAITING, limit))

    async def claim_for_generation(self, limit: int = 10, *, lease: timedelta = LEASE) -> list[Token]:
        """The next tokens to draw, in `generating` and leased to us. Commits."""
        rows = await store.claim(self.fetch, TOKEN, WAITING, limit=limit, worker=self.worker, lease=lease)
        tokens = await self._load([row["id"] for row in rows])
        await self._commit(*tokens)
        return tokens

    async def update_image_url(self, token: Token, image_url: str) -> None:
        """The image is drawn: on to `uploading`. Commits."""
        if not is_http_url(image_url):
            raise BadImageUrl(f"Seen: {image_url[:200]!r}")
        await self._settle(token, Done({"image_url": image_url}))

    async def mark_failed(self, token: Token, error_message: str) -> None:
        """It cannot be drawn, now or later: `failed`. Commits."""
        await self._settle(token, Fail(error_message))

    async def increment_attempts(self, token: Token, error_message: str, *, category: str = "transient") -> None:
        """Drawing failed in a way that may pass: back to `detected`, or `failed` when that was the last attempt. Commits."""
        await self._settle(token, Retry(error_message, category))

    async def _load(self, ids: Sequence[int]) -> list[Token]:
        fresh = select(Token).where(col(Token.id).in_(ids)).execution_options(populate_existing=True)
        place = {id: n for n, id in enumerate(ids)}
        return sorted(await self.session.exec(fresh), key=lambda token: place[token.id or 0])

    async def _settle(self, token: Token, verdict: Verdict) -> None:
        self._drop_changes()
        if token.id is None or token.status not in (WAITING, TOKEN.active(WAITING)):
            raise WrongStatus(f"Token {token.token_id} is {token.status}.")
        row = Row(token.id, token.epoch, token.status, WAITING, token.retry_count, spent=token.generation_attempts)
        transition = decide(TOKEN, row, verdict, jitter=random.random())
        before = values_of(token)
        try:
            settled = await store.settle(self.fetch, TOKENS, [(row, transition)], self.worker)
            fresh = await self._load([row.id])
            await self._commit(*fresh)
        except DBAPIError:
            await self.session.rollback()
            set_values(token, before)  # the rollback emptied it, and the caller will want to try again
            raise
        for now in fresh:
            set_values(token, values_of(now))  # it may have come from another session
        if not settled:
            raise LeaseLost(f"Token {before['token_id']}: our epoch {row.epoch}, now {token.epoch}.")

    def _drop_changes(self) -> None:
        """Tokens change only through here: a commit would write what was set on an object past the fence."""
        for token in [found for found in self.session.dirty if isinstance(found, Token)]:
            set_values(token, values_of(token))

    async def _commit(self, *tokens: Token) -> None:
        """A session may forget its objects at a commit; these stay as they were read."""
        read = [values_of(token) for token in tokens]
        await self.session.commit()
        for token, values in zip(tokens, read, strict=True):
            set_values(token, values)


def values_of(token: Token) -> dict[str, Any]:
    """As the database gave them, whatever was set since."""
    histories = {attribute.key: attribute.history for attribute in inspect(token).attrs}
    return {
        name: (known.deleted or known.unchanged)[0]
        for name, known in histories.items()
        if known.deleted or known.unchanged
    }


def set_values(token: Token, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        set_committed_value(token, name, value)


def is_http_url(address: str) -> bool:
    try:
        hostname = urlsplit(address).hostname
    except ValueError:
        return False
    return bool(hostname and re.fullmatch(r"https?://[!-~]+", address))
