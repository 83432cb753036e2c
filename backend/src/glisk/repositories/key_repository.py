"""API keys: made, found, revoked. A key is shown once; what is kept is its hash."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256
from typing import Any

from msgspec import Struct

from glisk.engine.link import Link
from glisk.engine.together import Together
from glisk.errors import KeyNameTaken
from glisk.repositories import users
from glisk.repositories.board import Board

MARK = "glk_"
OPERATOR, USER = "operator", "user"
MAKE = """
    WITH made AS (INSERT INTO api_keys (name, key_sha256, scope, user_id, rate, daily_limit) VALUES ($1, $2, $3, $5, $6, $7)
                  ON CONFLICT DO NOTHING RETURNING key_id, name, scope, user_id)
    INSERT INTO events (to_status, actor, data) SELECT 'key made', $4, to_jsonb(made) FROM made RETURNING event_id"""
REVOKE = """
    WITH gone AS (UPDATE api_keys SET revoked_at = now() WHERE key_id = $1 AND revoked_at IS NULL RETURNING key_id, name, scope, user_id)
    INSERT INTO events (to_status, actor, data) SELECT 'key revoked', $2, to_jsonb(gone) FROM gone RETURNING event_id"""
# Not at every request: to the minute is enough to see that a key is in use.
FIND = """
    WITH used AS (UPDATE api_keys SET last_used_at = now() WHERE key_sha256 = ANY ($1::bytea[]) AND revoked_at IS NULL
                  AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute'))
    SELECT key_sha256, key_id, name, scope, user_id, rate, daily_limit FROM api_keys
    WHERE key_sha256 = ANY ($1::bytea[]) AND revoked_at IS NULL"""
LIST = """
    SELECT key_id AS id, name, scope, user_id, rate, daily_limit, created_at, last_used_at, revoked_at
    FROM api_keys ORDER BY key_id"""
HAS_OPERATOR = "SELECT EXISTS (SELECT FROM api_keys WHERE scope = 'operator' AND revoked_at IS NULL) AS found"
HAS_ANY = "SELECT EXISTS (SELECT FROM api_keys WHERE revoked_at IS NULL) AS found"


class Key(Struct, frozen=True):
    key_id: int
    name: str
    scope: str
    user_id: str | None = None
    rate: int | None = None  # requests a minute
    daily_limit: Decimal | None = None


class Terms(Struct, frozen=True):
    """Of a user's key: whose it is, if not of a user of its own name; requests a minute; what a day's previews may cost."""

    user_id: str = ""
    rate: int | None = None
    daily_limit: Decimal | None = None


NO_TERMS = Terms()


class KeyRepository(Board):
    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self.known: Together[bytes, Key | None] = Together(self.found)

    async def make(self, name: str, scope: str, actor: str, terms: Terms = NO_TERMS) -> str:
        """The key itself, which nobody can be told again. Raises KeyNameTaken: by its name it is told which one it is."""
        secret, user = MARK + secrets.token_urlsafe(32), (terms.user_id or name) if scope == USER else None
        async with self.link.transaction() as fetch:
            if user:
                await users.know(fetch, user)
            if not await fetch(MAKE, name, hashed(secret), scope, actor, user, terms.rate, terms.daily_limit):
                raise KeyNameTaken(f"It is {name!r}.")
        return secret

    async def find(self, secret: str) -> Key | None:
        """Those who ask at the same moment are looked up together."""
        return await self.known(hashed(secret))

    async def found(self, hashes: Sequence[bytes]) -> list[Key | None]:
        rows = await self.listed(FIND, list(set(hashes)))
        keys = {row.pop("key_sha256"): Key(**row) for row in rows}
        return [keys.get(each) for each in hashes]

    async def revoke(self, key_id: int, actor: str) -> bool:
        """Whether there was such a key, and not revoked yet."""
        return bool(await self.link.fetch(REVOKE, key_id, actor))

    async def every(self) -> list[dict[str, Any]]:
        return await self.listed(LIST)

    async def has_operator(self) -> bool:
        (row,) = await self.listed(HAS_OPERATOR)
        return bool(row["found"])

    async def has_any(self) -> bool:
        (row,) = await self.listed(HAS_ANY)
        return bool(row["found"])


def hashed(secret: str) -> bytes:
    """Without salt: 256 random bits cannot be guessed, and are found by an index."""
    return sha256(secret.encode()).digest()
