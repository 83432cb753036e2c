"""Tokens as seed 003 works with them: find, claim, and write down how the drawing went.

Every change runs the engine's own statements and decisions, fenced by the token's epoch: there is one state machine.
"""

from __future__ import annotations

import os
import random
import re
import socket
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlsplit

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
        await self.session.commit()
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
        if token.id is None or token.status not in (WAITING, TOKEN.active(WAITING)):
            raise WrongStatus(f"Token {token.token_id} is {token.status}.")
        row = Row(token.id, token.epoch, token.status, WAITING, token.retry_count, spent=token.generation_attempts)
        transition = decide(TOKEN, row, verdict, jitter=random.random())
        # Whatever was changed on the object is dropped: the commit would write it past the fence.
        self.session.add(token)
        self.session.expire(token)
        settled = await store.settle(self.fetch, TOKENS, [(row, transition)], self.worker)
        await self.session.commit()
        await self.session.refresh(token)
        if not settled:
            raise LeaseLost(f"Token {token.token_id}: our epoch {row.epoch}, now {token.epoch}.")


def is_http_url(address: str) -> bool:
    try:
        hostname = urlsplit(address).hostname
    except ValueError:
        return False
    return bool(hostname and re.fullmatch(r"https?://[!-~]+", address))
