"""Reads as one user: what is another's does not exist for them, by a rule of the database's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg

from glisk.engine.link import Link, shortest
from glisk.engine.store import Fetch
from glisk.errors import RoleMissing

BECOME = "SELECT set_config('glisk.user_id', $1, false), set_config('role', 'glisk_user', false)"
GUESTS = "glisk users"  # as the server's list of connections shows them
NOT_ALLOWED = (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidParameterValueError, asyncpg.UndefinedObjectError)


class Own:
    """Several links, so that those who ask at once need not wait for each other. On the guests' nobody but users is ever served: what
    they are is said before each question, in one more round trip where a transaction would take three."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.links, self.guests = links, [Link(link.url, name=GUESTS) for link in links]

    @property
    def link(self) -> Link:
        return shortest(self.links)

    async def fetch(self, user_id: str | None, sql: str, *arguments: Any) -> list[Any]:
        """None: the operator, who sees everybody's."""
        if user_id is None:
            return await self.link.fetch(sql, *arguments)
        async with shortest(self.guests).held() as fetch:
            await become(fetch, user_id)
            return await fetch(sql, *arguments)

    async def one(self, user_id: str | None, sql: str, *arguments: Any) -> dict[str, Any] | None:
        return next((dict(row) for row in await self.fetch(user_id, sql, *arguments)), None)

    async def close(self) -> None:
        for link in (*self.links, *self.guests):
            await link.close()


async def become(fetch: Fetch, user_id: str) -> None:
    try:
        await fetch(BECOME, user_id)
    except NOT_ALLOWED as error:
        raise RoleMissing(str(error)) from error
