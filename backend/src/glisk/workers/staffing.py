"""Who does the work: which processor stands at which step, and through which lane?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from glisk.engine import lanes
from glisk.engine.claim import Lasting, Processor
from glisk.engine.lanes import Lane
from glisk.engine.link import Link
from glisk.engine.periodic import Periodic, Returning
from glisk.engine.worker import Pace, Station, processors_at
from glisk.engine.workflow import Workflow
from glisk.errors import UnknownActiveState
from glisk.processors import Limits, made, require_sound
from glisk.settings import Settings
from glisk.workers.scaling import Size

Kinds: TypeAlias = Mapping[str, type[Processor]]
Place: TypeAlias = tuple[Workflow, str, str]  # a workflow, one of its waiting states, and the process that it waits for


@dataclass(frozen=True, slots=True)
class Crew:
    """The stations, how much at once each process works on, and how many processes there are."""

    staff: Sequence[Station]
    pace: Pace
    size: Size

    def processors(self) -> list[Processor]:
        return processors_at(self.staff)

    def works(self, link: Link) -> list[Periodic]:
        return [work for one in self.processors() if isinstance(one, Returning) for work in one.works(link)]

    async def close(self) -> None:
        for one in self.processors():
            if isinstance(one, Lasting):
                await one.close()

    def served(self) -> dict[str, list[str]]:
        """The processes of each workflow, each with the lane it goes through."""
        found: dict[str, list[str]] = defaultdict(list)
        for station in self.staff:
            through = f" through {station.processor.lane}" if station.processor.lane else ""
            found[station.workflow.name].append(f"{station.workflow.steps[station.waiting].process}{through}")
        return found


def stations(
    served: Sequence[Workflow],
    every: Iterable[Workflow],
    kinds: Kinds,
    settings: Settings,
    processes: Collection[str] = (),
) -> list[Station]:
    """One for every step of the workflows served, or for those of these processes. A process that several share has one
    processor object. A lane counts in the tables of every workflow, also of those that others serve."""
    places = places_of(served, processes)
    require_processors(places, kinds)
    staff = {process: made(kinds[process], settings) for process in dict.fromkeys(process for _, _, process in places)}
    require_sound(staff.values())
    tables = tuple(dict.fromkeys(flow.table for flow in every))
    through = {name: Lane(name, tables) for at in staff.values() if (name := at.lane)}
    return [
        Station(flow, waiting, staff[process], through.get(staff[process].lane or ""))
        for flow, waiting, process in places
    ]


def places_of(served: Iterable[Workflow], processes: Collection[str] = ()) -> list[Place]:
    """The steps of these workflows; or of them those of these processes."""
    steps = [(flow, waiting, step.process) for flow in served for waiting, step in flow.steps.items()]
    return [place for place in steps if not processes or place[2] in processes]


def require_processors(places: Iterable[Place], kinds: Kinds) -> None:
    missing: dict[str, list[str]] = defaultdict(list)
    for flow, waiting, process in places:
        if process not in kinds:
            missing[process].append(f"{flow.name} at {waiting}")
    if missing:
        raise UnknownActiveState(missing)


async def make_lanes(link: Link, staff: Sequence[Station]) -> None:
    """Those that are missing, and who stands in which; of two processors that share one, the stricter limits count."""
    wishes: dict[str, list[Limits]] = defaultdict(list)
    for station in staff:
        if lane := station.processor.lane:
            wishes[lane].append(getattr(station.processor, "limits", Limits()))
    for lane, limits in wishes.items():
        rates = [limit.rate for limit in limits if limit.rate is not None]
        await lanes.make(link, lane, min(limit.concurrency for limit in limits), min(rates, default=None))
    await lanes.place(link, {(at.workflow.name, at.workflow.active(at.waiting)): at.processor.lane for at in staff})
