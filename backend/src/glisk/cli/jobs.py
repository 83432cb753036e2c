"""glisk jobs: look at jobs, send them on again, stop them, forget them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, Any, TypeVar

import typer

from glisk import service, settings
from glisk.cli import output, person
from glisk.repositories.job_board import JobBoard
from glisk.repositories.job_repository import FIRST

app = typer.Typer(help="Look at jobs, send them on again, stop them, forget them.", no_args_is_help=True)
T = TypeVar("T")


def known(workflow: str | None) -> str | None:
    if workflow is not None and workflow not in FIRST:
        raise typer.BadParameter(f"There is no workflow {workflow!r} of jobs. There are: {', '.join(FIRST)}.")
    return workflow


Workflow = Annotated[str | None, typer.Option("--workflow", callback=known, help="Only those of this workflow.")]
Jobs = Annotated[list[str], typer.Argument(help="Their ids, as `ls` shows them.")]
Ids = Annotated[list[str] | None, typer.Argument(help="Their ids, as `ls` shows them.")]


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="jobs")


def on_the_board(action: Callable[[JobBoard], Awaitable[T]]) -> T:
    return service.over_a_link(settings.load(), lambda link: action(JobBoard(link)))


@app.command()
def ls(
    workflow: Workflow = None,
    status: Annotated[str | None, typer.Option(help="Only those in this status.")] = None,
    limit: output.Limit = 50,
    as_json: output.Json = False,
) -> None:
    """The newest jobs."""
    found = on_the_board(lambda board: board.newest(workflow, status, limit))
    output.rows(found, as_json=as_json, empty="There are no such jobs.")


@app.command()
def dead(workflow: Workflow = None, as_json: output.Json = False) -> None:
    """The dead letters: jobs that failed for good."""
    found = on_the_board(lambda board: board.dead(workflow))
    output.rows(found, as_json=as_json, empty="There are no dead letters.")


@app.command()
def retrying(workflow: Workflow = None, as_json: output.Json = False) -> None:
    """The jobs that failed and will be tried again, the next one first."""
    found = on_the_board(lambda board: board.retrying(workflow))
    output.rows(found, as_json=as_json, empty="Nothing is being retried.")


@app.command()
def show(job: Annotated[str, typer.Argument(help="Its id.")], as_json: output.Json = False) -> None:
    """One job with everything that happened to it."""

    async def look(board: JobBoard) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
        found = await required(board, job)
        return found, await board.history(found["id"])

    output.one(*on_the_board(look), as_json=as_json)


@app.command()
def retry(
    jobs: Ids = None,
    all_dead: Annotated[bool, typer.Option("--dead", help="All dead letters (of --workflow, if given).")] = False,
    workflow: Workflow = None,
    yes: output.Yes = False,
) -> None:
    """Send jobs that have ended back to the step they ended in."""
    if all_dead == bool(jobs):
        raise typer.BadParameter(
            "Name jobs by their ids, or say --dead for all dead letters (of --workflow, if given)."
        )
    if workflow and not all_dead:
        raise typer.BadParameter("--workflow goes with --dead: jobs that are named need none.")

    async def chosen(board: JobBoard) -> list[int]:
        if all_dead:
            return await board.every_dead(workflow)
        return await ids_of(board, jobs or [])

    ids = on_the_board(chosen)
    output.confirm(f"Retry {len(ids)} jobs?", yes=yes or len(ids) < 2)

    async def send_on(board: JobBoard) -> tuple[list[int], Counter[str]]:
        moved = await board.retry(ids, person.name())
        return moved, await board.why_not_retried(sorted(set(ids) - set(moved)))

    moved, left = on_the_board(send_on)
    output.tell(f"{len(moved)} of {len(ids)} wait again.", [f"{n} not retried: {why}." for why, n in left.items()])


@app.command()
def cancel(jobs: Jobs, yes: output.Yes = False) -> None:
    """Stop jobs, waiting or at work."""
    ids = on_the_board(lambda board: ids_of(board, jobs))
    output.confirm(f"Cancel {len(ids)} jobs?", yes=yes)
    moved = on_the_board(lambda board: board.cancel(ids, person.name()))
    left = [f"{len(ids) - len(moved)} not cancelled: ended already."] * (len(moved) < len(ids))
    output.tell(f"{len(moved)} of {len(ids)} cancelled.", left)


@app.command()
def prune(
    older_than: Annotated[
        int | None,
        typer.Option(
            min=0, max=36500, metavar="DAYS", help="Those that ended more days ago; else as the settings say."
        ),
    ] = None,
    yes: output.Yes = False,
) -> None:
    """Delete jobs that ended long ago, with their events. What was paid for them stays in the ledger."""
    days = settings.load().keep_jobs_days if older_than is None else older_than
    if older_than is None and days == 0:
        raise typer.BadParameter("GLISK_KEEP_JOBS_DAYS is 0, so all jobs are kept: add --older-than.")
    output.confirm(f"Delete the jobs that ended more than {days} days ago?", yes=yes)
    pruned = on_the_board(lambda board: board.prune(timedelta(days=days)))
    typer.echo(f"{pruned} deleted.")


@app.command()
def pause(jobs: Jobs) -> None:
    """Start nothing more of jobs that wait. What is at work goes on."""
    say(jobs, "paused", lambda board, ids: board.pause(ids, person.name()))


@app.command()
def resume(jobs: Jobs) -> None:
    """Go on with jobs that were paused."""
    say(jobs, "go on", lambda board, ids: board.resume(ids, person.name()))


def say(jobs: list[str], what: str, action: Callable[[JobBoard, list[int]], Awaitable[list[int]]]) -> None:
    async def act(board: JobBoard) -> list[int]:
        return await action(board, await ids_of(board, jobs))

    typer.echo(f"{len(on_the_board(act))} of {len(jobs)} {what}.")


async def ids_of(board: JobBoard, jobs: list[str]) -> list[int]:
    return [(await required(board, job))["id"] for job in jobs]


async def required(board: JobBoard, key: str) -> dict[str, Any]:
    found = await board.find(key)
    if found is None:
        output.refuse(f"There is no job {key}.")
    return found
