"""/login and /logout: the operator's key, kept by the browser in a cookie that no script can read."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request, Response

from glisk.api.access import COOKIE
from glisk.errors import KeyRefused
from glisk.web.site import Site

KEPT_FOR = 30 * 86_400  # seconds


def mount(routes: APIRouter, site: Site) -> None:
    async def ask(request: Request, to: str = "/") -> Response:
        return await site.page(request, "login.html", to=our_own(to), problem=None)

    async def log_in(request: Request, key: Annotated[str, Form()] = "", to: Annotated[str, Form()] = "/") -> Response:
        if (found := await site.door.keys.find(key.strip())) is None:
            return await site.page(request, "login.html", status=401, to=our_own(to), problem=KeyRefused)
        answer = site.back(our_own(to), f"You are logged in as {found.name}.")
        answer.set_cookie(
            COOKIE, key.strip(), max_age=KEPT_FOR, path="/", httponly=True, samesite="strict", secure=site.is_https
        )
        return answer

    async def log_out() -> Response:
        answer = site.back("/", "You are logged out.")
        answer.delete_cookie(COOKIE, path="/")
        return answer

    routes.add_api_route("/login", ask, methods=["GET"])
    routes.add_api_route("/login", log_in, methods=["POST"])
    routes.add_api_route("/logout", log_out, methods=["POST"])


def our_own(address: str) -> str:
    """Only to pages of ours: a link to the login must not lead elsewhere afterwards."""
    parts = urlsplit(address)
    is_ours = (
        address.startswith("/") and not address.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    )
    return address if is_ours else "/"
