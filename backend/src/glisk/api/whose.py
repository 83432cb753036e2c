"""For whom is this asked? A user's key says so; an operator names a user."""

from __future__ import annotations

from glisk.api.access import Visitor
from glisk.errors import BadQuery, NotTheirs
from glisk.repositories import users


def user_in(given: str) -> str:
    if not users.is_name(given):
        raise BadQuery(f"userId: {users.WANTED}.")
    return given


def acting_for(visitor: Visitor, given: str | None) -> str:
    """Whose thing will it be?"""
    if visitor.user_id is None and given is None:
        raise BadQuery("userId: it is missing.")
    return visitor.user_id if given is None and visitor.user_id is not None else checked(visitor, given or "")


def looking_at(visitor: Visitor, given: str | None) -> str | None:
    """Whose things are listed? A user's own; for an operator everybody's, unless they name one."""
    return acting_for(visitor, given) if given or visitor.user_id else None


def checked(visitor: Visitor, given: str) -> str:
    if visitor.user_id is not None and given != visitor.user_id:
        raise NotTheirs
    return user_in(given)
