"""/failures: what has failed, by where and why, with what to do about it; a whole group is retried at once, just as it was seen."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request, Response

from glisk.errors import BadQuery
from glisk.repositories.failure_board import FailureBoard, Group
from glisk.web import places
from glisk.web.apart import apart
from glisk.web.site import Site

HERE = "/failures"
SHOWN = 100  # of one group


def mount(routes: APIRouter, site: Site) -> None:
    async def show(request: Request, workflow: str = "", step: str = "", cause: str = "") -> Response:
        visitor = await site.door.operator(request)
        async with apart(site.link) as link:
            found = await FailureBoard(link).failures()
        wanted = next((group for group in found.groups if group.key == (workflow, step, cause)), None)
        return await site.page(
            *(request, "failures.html"),
            visitor=visitor,
            found=found,
            groups=[wanted] if wanted else found.groups,
            is_one=wanted is not None,
            shown=SHOWN,
            address=address,
            home=await places.home(site),
        )

    async def retry(
        request: Request,
        workflow: Annotated[str, Form()] = "",
        step: Annotated[str, Form()] = "",
        cause: Annotated[str, Form()] = "",
        until: Annotated[str, Form()] = "",
    ) -> Response:
        visitor = await site.door.operator(request)
        async with apart(site.link) as link:
            board = FailureBoard(link)
            group = await board.group((workflow, step, cause), moment_in(until))
            if group is None:
                return site.back(HERE, "They have moved on since you looked: there is nothing left to retry.")
            moved, left = await board.retry(group, visitor.name)
        reasons = "".join(f" {count} left: {why}." for why, count in left.items())
        return site.back(HERE, f"{moved} of {group.count} are tried again.{reasons}")

    routes.add_api_route(HERE, show, methods=["GET"])
    routes.add_api_route(f"{HERE}/retry", retry, methods=["POST"])


def address(group: Group) -> str:
    """Of a group alone, with its rows."""
    workflow, step, cause = group.key
    return f"{HERE}?{urlencode({'workflow': workflow, 'step': step, 'cause': cause})}"


def moment_in(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadQuery("until: the time at which they were looked at is wanted.") from error
    if found.tzinfo is None:
        raise BadQuery("until: a time with its zone is wanted.")
    return found
