"""/pipeline: how far tokens have come, how long each step takes, and the lanes, which can be held, resumed and limited here."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from glisk.engine import lanes
from glisk.errors import BadQuery, PageMissing
from glisk.repositories.failure_board import FailureBoard
from glisk.repositories.pipeline_board import NEWEST, PipelineBoard
from glisk.web import charts, places
from glisk.web.apart import apart
from glisk.web.site import Site

HERE = "/pipeline"
MOST_AT_ONCE = 1_000_000


def mount(routes: APIRouter, site: Site) -> None:
    async def show(request: Request) -> Response:
        visitor = await site.door.operator(request)
        async with apart(site.link) as link:
            pipeline, lost = await PipelineBoard(link).pipeline(), (await FailureBoard(link).failures()).groups
        return await site.page(
            *(request, "pipeline.html"),
            visitor=visitor,
            pipeline=pipeline,
            newest=NEWEST,
            lanes=await PipelineBoard(site.link).lanes(),
            lost=lost,
            home=await places.home(site),
            charts=charts,
            longest_reason=lanes.LONGEST_REASON,
        )

    async def hold(lane: str, request: Request, reason: Annotated[str, Form()] = "") -> Response:
        visitor = await site.door.operator(request)
        if problem := lanes.reason_problem(reason):
            raise BadQuery(f"reason: {problem}.")
        is_new = await lanes.hold(site.link, await known(site, lane), reason.strip(), actor=visitor.name)
        return site.back(HERE, f"{lane} is held." if is_new else f"{lane} was held already, and its reason stands.")

    async def resume(lane: str, request: Request) -> Response:
        visitor = await site.door.operator(request)
        await lanes.resume(site.link, await known(site, lane), actor=visitor.name)
        return site.back(HERE, f"{lane} is open.")

    async def limit(
        lane: str, request: Request, concurrency: Annotated[str, Form()] = "", rate: Annotated[str, Form()] = ""
    ) -> Response:
        visitor = await site.door.operator(request)
        most, often = how_many(concurrency), how_often(rate)
        await lanes.limit(site.link, await known(site, lane), most, often, actor=visitor.name)
        said = "as often as it likes" if often == lanes.ANY_RATE else f"{often:g} a second"
        return site.back(HERE, f"{lane} takes {most} at once, {said}.")

    routes.add_api_route(HERE, show, methods=["GET"])
    for action, answer in {"hold": hold, "resume": resume, "limit": limit}.items():
        routes.add_api_route(f"/lanes/{{lane}}/{action}", answer, methods=["POST"])


async def known(site: Site, lane: str) -> str:
    names = [row["lane"] for row in await lanes.every_lane(site.link)]
    if lane not in names:
        raise PageMissing(f"There is no lane {lane!r}. There are: {', '.join(names) or 'none yet'}.")
    return lane


def how_many(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= MOST_AT_ONCE):
        raise BadQuery(
            f"concurrency: a whole number from 1 to {MOST_AT_ONCE} is wanted. To let none through, hold the lane."
        )
    return int(text)


def how_often(text: str) -> float:
    """Nothing is no limit."""
    try:
        rate = float(text or lanes.ANY_RATE)
    except ValueError:
        rate = math.nan
    if not lanes.SLOWEST <= rate <= lanes.ANY_RATE:
        raise BadQuery("rate: calls a second are wanted, like 2.5, or nothing for no limit.")
    return rate
