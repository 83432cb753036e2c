"""Who may see this picture? Everybody from its token's reveal on; before that the operator. What is a user's, that user and the operator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from fastapi import Request

from glisk.api.access import Door
from glisk.engine.link import Link
from glisk.repositories.own import Own
from glisk.repositories.own_pictures import OwnPictures
from glisk.repositories.public_board import PublicBoard, public_statuses

Sight: TypeAlias = Literal["everybody", "operator", "owner", "nobody"]  # who, of those like the visitor, may see it
MaySee: TypeAlias = Callable[[Request, str], Awaitable[Sight]]
# No cache that others share keeps what only the operator may see.
FOR_ONE = "private, max-age=300"


async def by_everybody(_: Request, __: str) -> Sight:
    """Where nothing is hidden."""
    return "everybody"


def objects(link: Link, door: Door, own: Own | None = None, *, reveals: bool) -> MaySee:
    """`own`: where there are also pictures that are users'."""
    board, statuses = PublicBoard(link), public_statuses(reveals=reveals)
    return sight(door, lambda key: board.has_object(key, statuses), OwnPictures(own).has if own else nobodys)


def cids(link: Link, door: Door, *, reveals: bool) -> MaySee:
    board, statuses = PublicBoard(link), public_statuses(reveals=reveals)
    return sight(door, lambda cid: board.has_cid(cid, statuses), nobodys)


def sight(
    door: Door, is_public: Callable[[str], Awaitable[bool]], is_theirs: Callable[[str, str], Awaitable[bool]]
) -> MaySee:
    async def may_see(request: Request, name: str) -> Sight:
        if await is_public(name):
            return "everybody"
        visitor = await door.visitor(request)
        if visitor.is_operator:
            return "operator"
        return "owner" if visitor.user_id is not None and await is_theirs(visitor.user_id, name) else "nobody"

    return may_see


async def nobodys(_: str, __: str) -> bool:
    return False
