"""/system: is everything well? What the doctor says, who is at work, what is set, who may come in, and what people did."""

from __future__ import annotations

import platform
from typing import Any

from fastapi import APIRouter, Request, Response

from glisk import __version__, values
from glisk.repositories.key_repository import KeyRepository
from glisk.repositories.system_board import PAGE, SystemBoard
from glisk.settings import Settings, variable
from glisk.web import places
from glisk.web.site import Site

HERE = "/system"
CHAIN = ("chain", "keeper", "listener")  # the doctor's parts that the page of the chain shows


def mount(routes: APIRouter, site: Site) -> None:
    board, keys = SystemBoard(site.link), KeyRepository(site.link)

    async def show(request: Request, before: str = "", authors: str = "") -> Response:
        visitor = await site.door.operator(request)
        deeds = await board.audit(before or None, PAGE + 1, with_authors=bool(authors))
        kept = "&authors=1" if authors else ""
        return await site.page(
            *(request, "system.html"),
            visitor=visitor,
            alerts=await board.alerts(),
            workers=await board.workers(),
            seats=await board.listeners(),
            settings_in_force=settings_of(site.settings),
            keys=await keys.every(),
            versions={"Glisk": __version__, "Python": platform.python_version(), **await board.versions()},
            sizes=await board.sizes(),
            deeds=deeds[:PAGE],
            older=f"{HERE}?before={deeds[PAGE - 1].key}{kept}#audit" if len(deeds) > PAGE else None,
            is_first=not before,
            with_authors=bool(authors),
            home=await places.home(site),
        )

    async def checks(request: Request, of: str = "") -> Response:
        """Asks every part, also those far away: so no page waits for it."""
        visitor = await site.door.operator(request)
        found = [check for check in await site.examine() if of != "chain" or check.part in CHAIN]
        return await site.page(request, "checks.html", visitor=visitor, checks=found)

    async def revoke(key_id: int, request: Request) -> Response:
        visitor = await site.door.operator(request)
        is_gone = await keys.revoke(key_id, visitor.name)
        return site.back(
            f"{HERE}#keys", "The key is revoked." if is_gone else "There is no such key, or it is revoked."
        )

    routes.add_api_route(HERE, show, methods=["GET"])
    routes.add_api_route(f"{HERE}/checks", checks, methods=["GET"])
    routes.add_api_route(f"{HERE}/keys/{{key_id}}/revoke", revoke, methods=["POST"])


def settings_of(settings: Settings) -> list[dict[str, Any]]:
    """Each with its value as it may be shown, and whether somebody has set it."""
    return [
        {
            "variable": variable(name),
            "value": values.masked(getattr(settings, name)).strip("'"),
            "is_set": getattr(settings, name) != field.get_default(call_default_factory=True),
            "about": field.description,
        }
        for name, field in Settings.model_fields.items()
    ]
