"""/j: jobs and their workflows, and one job with its story; what can be done to them is done here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from glisk.engine import control
from glisk.errors import BadQuery, PageMissing
from glisk.repositories import timeline
from glisk.repositories.job_board import JobBoard
from glisk.repositories.job_repository import FIRST
from glisk.web.apart import apart
from glisk.web.site import Site
from glisk.workflows import WORKFLOWS

HERE = "/j"  # /jobs is for programs
PAGE = 50
SHOWN = 20  # of those that are tried again by themselves
LONGEST = 19  # digits of an id
FLOWS = {name: WORKFLOWS[name] for name in FIRST}
STATUSES = sorted({status for flow in FLOWS.values() for status in flow.statuses()})
Deed = Callable[[list[int], str], Awaitable[list[int]]]


def mount(routes: APIRouter, site: Site) -> None:
    mount_lists(routes, site)
    mount_workflows(routes, site)
    mount_deeds(routes, site, JobBoard(site.link))


def mount_lists(routes: APIRouter, site: Site) -> None:
    async def show(request: Request, workflow: str = "", status: str = "", before: str = "") -> Response:
        visitor = await site.door.operator(request)
        require_known(workflow, status)
        async with apart(site.link) as link:
            found = await lists(JobBoard(link), workflow or None, status or None, id_in(before))
        rows = found.pop("rows")
        older = {"workflow": workflow, "status": status, "before": rows[PAGE - 1]["id"]} if len(rows) > PAGE else None
        return await site.page(
            *(request, "jobs.html"),
            visitor=visitor,
            rows=rows[:PAGE],
            older=older and f"{HERE}?{urlencode(older)}",
            flows=FLOWS,
            statuses=STATUSES,
            paused={row["workflow"]: row for row in await control.paused_workflows(site.link)},
            wanted={"workflow": workflow, "status": status},
            **found,
        )

    async def one(key: str, request: Request) -> Response:
        visitor = await site.door.operator(request)
        job = await one_job(JobBoard(site.link), key)
        story = await timeline.story(site.link, job["id"])
        return await site.page(request, "job.html", visitor=visitor, job=job, story=story)

    routes.add_api_route(HERE, show, methods=["GET"])
    routes.add_api_route(f"{HERE}/{{key}}", one, methods=["GET"])


def mount_workflows(routes: APIRouter, site: Site) -> None:
    async def pause(workflow: str, request: Request) -> Response:
        visitor = await site.door.operator(request)
        await control.pause_workflow(site.link, known(workflow), visitor.name)
        return site.back(HERE, f"{workflow} is paused. What is at work goes on.")

    async def resume(workflow: str, request: Request) -> Response:
        visitor = await site.door.operator(request)
        await control.resume_workflow(site.link, known(workflow), visitor.name)
        return site.back(HERE, f"{workflow} goes on.")

    routes.add_api_route("/workflows/{workflow}/pause", pause, methods=["POST"])
    routes.add_api_route("/workflows/{workflow}/resume", resume, methods=["POST"])


def mount_deeds(routes: APIRouter, site: Site, board: JobBoard) -> None:
    def acting(done: str, deed: Deed) -> Callable[[str, Request], Awaitable[Response]]:
        async def act(key: str, request: Request) -> Response:
            visitor = await site.door.operator(request)
            id = (await one_job(board, key))["id"]
            moved = await deed([id], visitor.name)
            left = f"Job {id} was left as it is: it does not stand so that it could be."
            return site.back(f"{HERE}/{id}", f"Job {id} is {done}." if moved else left)

        return act

    deeds: dict[str, tuple[str, Deed]] = {
        "retry": ("tried again", board.retry),
        "cancel": ("cancelled", board.cancel),
        "pause": ("paused", board.pause),
        "resume": ("going on", board.resume),
    }
    for name, (done, deed) in deeds.items():
        routes.add_api_route(f"{HERE}/{{key}}/{name}", acting(done, deed), methods=["POST"])


async def lists(board: JobBoard, workflow: str | None, status: str | None, before: int | None) -> dict[str, Any]:
    return {
        "rows": await board.newest(workflow, status, PAGE + 1, before),
        "open": await board.open(),
        "retrying": await board.retrying(workflow, SHOWN),
    }


async def one_job(board: JobBoard, key: str) -> dict[str, Any]:
    if (job := await board.find(key)) is None:
        raise PageMissing(f"There is no job {key}.")
    return job


def known(workflow: str) -> str:
    if workflow not in FLOWS:
        raise PageMissing(f"There is no workflow {workflow!r} of jobs.")
    return workflow


def require_known(workflow: str, status: str) -> None:
    if workflow and workflow not in FLOWS:
        raise BadQuery(f"workflow: one of {', '.join(FLOWS)} is wanted.")
    if status and status not in STATUSES:
        raise BadQuery(f"status: one of {', '.join(STATUSES)} is wanted.")


def id_in(text: str) -> int | None:
    if text and not (text.isascii() and text.isdecimal() and len(text) < LONGEST):
        raise BadQuery("before: the id of a job is wanted.")
    return int(text) if text else None
