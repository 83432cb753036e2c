"""glisk work: the processes that do the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated

import typer

from glisk import logs, processors, service, settings
from glisk.cli.output import say
from glisk.engine.claim import Processor
from glisk.engine.worker import Pace, Station
from glisk.engine.workflow import Workflow
from glisk.settings import Settings
from glisk.workers import process
from glisk.workers.scaling import Size
from glisk.workers.staffing import Crew, places_of, require_processors, stations
from glisk.workflows import WORKFLOWS

LARGEST_CLAIM = 100
REVEALING = "revealing"
MOST_PROCESSES, MOST_ROWS, A_DAY, AN_HOUR = 1000, 100_000, 86_400, 3600

Workflows = Annotated[
    list[str] | None, typer.Option("--workflow", metavar="NAME", help="Serve this one (again for more). Default: all.")
]
Served = Annotated[
    list[str] | None,
    typer.Option("--process", metavar="NAME", help="Only the steps of this process, like generating (again for more)."),
]
Through = Annotated[
    list[str] | None,
    typer.Option(
        "--lane", metavar="NAME", help="Only the steps that go through this lane, like replicate (repeatable)."
    ),
]
Modules = Annotated[
    list[str] | None,
    typer.Option("--processors", metavar="MODULE", help="Import this module, which registers processors (repeatable)."),
]
Processes = Annotated[
    int | None, typer.Option("--processes", min=1, max=MOST_PROCESSES, help="So many processes. Default: one.")
]
Minimum = Annotated[
    int | None, typer.Option("--min", min=1, max=MOST_PROCESSES, help="At least so many processes, more as work waits.")
]
Maximum = Annotated[int | None, typer.Option("--max", min=1, max=MOST_PROCESSES, help="At most so many processes.")]
Concurrency = Annotated[int, typer.Option(min=1, max=MOST_ROWS, help="So many rows at once in each process.")]
Drain = Annotated[
    float,
    typer.Option(min=0, max=A_DAY, help="Seconds to finish in when asked to stop; the rest waits again."),
]
Lease = Annotated[
    float,
    typer.Option(min=1, max=A_DAY, help="Seconds after which the work of a dead process is given to others."),
]
Poll = Annotated[
    float,
    typer.Option(min=0.1, max=AN_HOUR, help="Seconds between looks at what waits, besides being told of it."),
]
Lifeline = Annotated[int | None, typer.Option("--lifeline", hidden=True)]  # a file descriptor: we are a supervisor's


def mount(app: typer.Typer) -> None:
    app.command()(work)


def work(
    workflow: Workflows = None,
    only: Served = None,
    lanes: Through = None,
    modules: Modules = None,
    processes: Processes = None,
    minimum: Minimum = None,
    maximum: Maximum = None,
    concurrency: Concurrency = 200,
    drain: Drain = 20,
    lease: Lease = 30,
    poll: Poll = 3,
    lifeline: Lifeline = None,
) -> None:
    """Run workers. A signal lets them finish; a second one ends them at once, and loses nothing."""
    found = settings.load()
    logs.configure(found)
    pace = pace_of(concurrency, drain, lease, poll)
    if lifeline is not None:
        process.hold(lifeline, pace)
    service.prepare_objects(found)
    kinds, flows = processors_of(modules or []), chosen(workflow)
    served = served_processes(flows, chosen_processes(only), found)
    require_processors(places_of(flows, served), kinds)
    with chain_for(served, kinds, found) as found:
        staff = through(lanes or [], stations(flows, WORKFLOWS.values(), kinds, found, served))
        crew = Crew(staff, pace, size(processes, minimum, maximum))
        if lifeline is not None:
            service.work_for_supervisor(found, crew)
        else:
            require_key(crew, found)
            service.work(found, crew, child, say)
            typer.echo("Stopped. What was not finished waits for the next worker; no attempt was used.")


def pace_of(concurrency: int, drain: float, lease: float, poll: float) -> Pace:
    batch = min(concurrency, LARGEST_CLAIM)
    return Pace(concurrency, batch, timedelta(seconds=lease), timedelta(seconds=poll), timedelta(seconds=drain))


def chosen(names: Sequence[str] | None) -> list[Workflow]:
    if unknown := [name for name in names or [] if name not in WORKFLOWS]:
        raise typer.BadParameter(f"There is no workflow {', '.join(unknown)}. There are: {', '.join(WORKFLOWS)}.")
    return [flow for name, flow in WORKFLOWS.items() if not names or name in names]


def chosen_processes(names: Sequence[str] | None) -> list[str]:
    known = sorted({step.process for flow in WORKFLOWS.values() for step in flow.steps.values()})
    if unknown := [name for name in names or [] if name not in known]:
        raise typer.BadParameter(f"There is no process {', '.join(unknown)}. There are: {', '.join(known)}.")
    return list(names or [])


def served_processes(flows: Sequence[Workflow], only: Sequence[str], found: Settings) -> list[str]:
    """Those that are asked for, else all of these workflows; without revealing where that is off."""
    served = list(dict.fromkeys(process for _, _, process in places_of(flows, only)))
    if not served:
        raise typer.BadParameter("None of these workflows has a step of these processes: glisk workflows ls")
    if found.reveals or REVEALING not in served:
        return served
    way = "GLISK_REVEAL=on turns it on." if found.reveal else "GLISK_REVEAL_KEY_FILE, the keeper's key, turns it on."
    if REVEALING in only:
        raise typer.BadParameter(f"Revealing is off. {way}")
    typer.echo(f"Revealing is off: tokens stay ready. {way}", err=True)
    return [process for process in served if process != REVEALING]


def through(lanes: Sequence[str], staff: list[Station]) -> list[Station]:
    """Those in these lanes; without any, all."""
    known = sorted({at.processor.lane for at in staff if at.processor.lane})
    if unknown := [name for name in lanes if name not in known]:
        raise typer.BadParameter(
            f"No step here goes through {', '.join(unknown)}. There are: {', '.join(known) or 'none'}."
        )
    return [at for at in staff if not lanes or at.processor.lane in lanes]


@contextmanager
def chain_for(served: Sequence[str], kinds: Mapping[str, type[Processor]], found: Settings) -> Iterator[Settings]:
    """With the embedded chain in them, if our own processor of that kind has no other."""
    if REVEALING in served and processors.is_own(kinds[REVEALING]):
        from glisk import following  # whoever reveals nothing need not wait for it to load

        with following.with_chain(found) as filled:
            yield filled
    else:
        yield found


def require_key(crew: Crew, found: Settings) -> None:
    """The keeper's, where one of our own processors reveals with it."""
    at_it = [at.processor for at in crew.staff if at.workflow.steps[at.waiting].process == REVEALING]
    if any(processors.is_own(type(one)) for one in at_it):
        from glisk.chain.sending import keepers

        keepers.require_key(found)


def size(processes: int | None, minimum: int | None, maximum: int | None) -> Size:
    if processes and (minimum or maximum):
        raise typer.BadParameter("Say either --processes or --min and --max.")
    least = processes or minimum or 1
    most = processes or maximum or least
    if most < least:
        raise typer.BadParameter(f"--max {most} is below --min {least}.")
    return Size(least, most)


def processors_of(modules: Sequence[str]) -> Mapping[str, type[Processor]]:
    """Found from the current directory too, as `python -m` would."""
    sys.path.insert(0, os.getcwd())
    try:
        return processors.known(modules)
    except ModuleNotFoundError as error:
        if not any(f"{module}.".startswith(f"{error.name}.") for module in modules):
            raise
        raise typer.BadParameter(f"There is no module {error.name}, neither here nor on PYTHONPATH.") from error


def child(lifeline: int) -> list[str]:
    """This very command, in another process."""
    return [sys.executable, "-P", "-m", "glisk", *sys.argv[1:], "--lifeline", str(lifeline)]
