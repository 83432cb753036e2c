"""/errors: what each code means and what to do, as `glisk explain` says it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from glisk import errors
from glisk.errors import PageMissing
from glisk.web.site import Site


def mount(routes: APIRouter, site: Site) -> None:
    async def every(request: Request) -> Response:
        return await site.page(request, "errors.html", leaves=errors.catalogue().values())

    async def one(code: str, request: Request) -> Response:
        if (leaf := errors.catalogue().get(code.upper())) is None:
            raise PageMissing(f"There is no error {code}.")
        return await site.page(request, "error.html", leaf=leaf)

    routes.add_api_route("/errors", every, methods=["GET"])
    routes.add_api_route("/errors/{code}", one, methods=["GET"])
