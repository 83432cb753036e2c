"""What a person sees when a page cannot be shown: the code, what it means, what to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog
from fastapi import Request, Response
from fastapi.routing import APIRoute

from glisk.api import refusal
from glisk.api.access import PUBLIC, Visitor
from glisk.engine.link import LinkLost
from glisk.errors import DatabaseUnreachable, GliskError, PageMissing
from glisk.web.site import Site

log = structlog.get_logger()
Answer = Callable[[Request], Coroutine[Any, Any, Response]]


def route_class(site: Site) -> type[APIRoute]:
    """Routes of pages: what they raise is told as a page."""

    class PageRoute(APIRoute):
        def get_route_handler(self) -> Answer:
            inner: Any = super().get_route_handler()

            async def answer(request: Request) -> Response:
                try:
                    found: Response = await inner(request)
                except LinkLost as error:
                    return await problem(site, request, DatabaseUnreachable(str(error)))
                except GliskError as error:
                    return await problem(site, request, error)
                return found

            return answer

    return PageRoute


async def problem(site: Site, request: Request, error: GliskError) -> Response:
    status = refusal.status_of(error)
    if status >= 500:
        log.error("could not show a page", path=request.url.path, status=status, code=error.code, error=str(error))
    told = {"code": error.code, "message": refusal.told(error), "remedy": error.fix, "status": status}
    visitor = PUBLIC if status >= 500 else await known(site, request)
    values = {"visitor": visitor, "held": [], "here": request.url.path, "said": "", "after": "", **told}
    return site.answer(site.part("problem.html", **values), status)


async def known(site: Site, request: Request) -> Visitor:
    """With the database away it can be anybody."""
    try:
        return await site.door.visitor(request)
    except LinkLost:
        return PUBLIC


def not_found(site: Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    """For the application's 404: a page for a browser, JSON for everybody else."""

    async def answer(request: Request, error: Exception) -> Response:
        if "text/html" not in request.headers.get("accept", ""):
            return await refusal.answer_missing(request, error)
        return await problem(site, request, PageMissing())

    return answer
