"""The numbers of GET /metrics: their names, and what each of them means; docs/metrics.md has the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from glisk import __version__
from glisk.repositories.health_board import Numbers
from glisk.workflows import TOKEN

Labels: TypeAlias = tuple[str, ...]
Values: TypeAlias = Mapping[Labels, float]


@dataclass(frozen=True, slots=True)
class Named:
    """A number, what it means, and when to look."""

    name: str
    meaning: str
    alert: str = ""
    labels: Labels = ()
    kind: Literal["gauge", "counter"] = "gauge"


CONTRACT = ("chain", "contract")
UP = Named(
    "glisk_database_up", "1 if the database answered; without it only what the process knows is here.", "0 for 1 min"
)
BUILD = Named("glisk_build_info", "Always 1; the version is its label.", labels=("version",))
CLIENTS = Named("glisk_stream_clients", "Who follow the events through this process.", "near 1000")
TOKENS = Named("glisk_tokens", "Tokens in each status.", 'status="failed" grows', labels=("status",))
JOBS = Named("glisk_jobs", "Jobs that have not ended, in each status.", labels=("workflow", "status"))
HELD = Named("glisk_lane_held", "1 while a lane is held: nothing goes on in it.", "1 for 5 min", labels=("lane",))
IN_FLIGHT = Named("glisk_lane_in_flight", "Calls that go through a lane now.", labels=("lane",))
LIMIT = Named("glisk_lane_limit", "How many a lane lets through at once.", labels=("lane",))
LAG_BLOCKS = Named(
    "glisk_listener_lag_blocks", "Blocks of the chain that are not read yet.", "> 100 for 10 min", CONTRACT
)
LAG = Named("glisk_listener_lag_seconds", "Since the chain was last looked at.", "> 120", CONTRACT)
HALTED = Named("glisk_listener_halted", "1 while a contract waits for a person: glisk chain status.", "1", CONTRACT)
REORGS = Named("glisk_reorgs_total", "How often blocks were replaced.", "", CONTRACT, "counter")
OLDEST = Named(
    "glisk_oldest_unrevealed_seconds", "Age of the oldest token that is on its way; 0 without any.", "> 3600"
)
PACE = Named(
    "glisk_mint_to_reveal_seconds",
    "From mint to reveal, of the newest 200 revealed tokens.",
    'quantile="0.95" > 600',
    ("quantile",),
)
SPENT = Named("glisk_spend_dollars_today", "Paid for pictures since midnight UTC.", "near GLISK_DAILY_BUDGET")
ORDERED = Named("glisk_ordered_dollars_today", "What pictures that are being drawn will probably cost.")
LEFT = Named("glisk_reveals_left", "How many tokens the keeper can still pay to reveal.", "< 50", ("chain", "keeper"))
ALERTS = Named("glisk_alerts", "Trouble that is not over, by its kind.", "> 0", labels=("kind",))
OURS = (
    *(UP, BUILD, CLIENTS, TOKENS, JOBS, HELD, IN_FLIGHT, LIMIT, LAG_BLOCKS, LAG, HALTED, REORGS, OLDEST, PACE),
    *(SPENT, ORDERED, LEFT, ALERTS),
)


def exposed(numbers: Numbers | None, clients: int) -> bytes:
    """As Prometheus reads it. None: the database did not answer."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    registry.register(
        Once([*of_process(clients, is_up=numbers is not None), *(of_database(numbers) if numbers else ())])
    )
    return generate_latest(registry)


@dataclass(frozen=True, slots=True, eq=False)
class Once(Collector):
    families: list[Metric]

    def collect(self) -> Iterable[Metric]:
        return self.families


def of_process(clients: int, *, is_up: bool) -> Iterator[Metric]:
    yield family(UP, {(): is_up})
    yield family(BUILD, {(__version__,): 1})
    yield family(CLIENTS, {(): clients})


def of_database(seen: Numbers) -> Iterator[Metric]:
    """A status without tokens is told too: what is missing cannot be compared with anything."""
    yield family(TOKENS, {(status,): seen.tokens.get(status, 0) for status in sorted(TOKEN.statuses())})
    yield family(JOBS, {(flow, status): many for (flow, status), many in seen.jobs.items()})
    yield family(HELD, {(lane["lane"],): lane["state"] == "held" for lane in seen.lanes})
    yield family(IN_FLIGHT, {(lane["lane"],): lane["in_use"] for lane in seen.lanes})
    yield family(LIMIT, {(lane["lane"],): lane["max_concurrency"] for lane in seen.lanes})
    yield family(LAG_BLOCKS, {(one.chain, one.contract): one.blocks for one in seen.listeners})
    yield family(LAG, {(one.chain, one.contract): one.seconds for one in seen.listeners})
    yield family(HALTED, {(one.chain, one.contract): one.is_halted for one in seen.listeners})
    yield family(
        REORGS, {(one.chain, one.contract): seen.reorgs.get((one.chain, one.contract), 0) for one in seen.listeners}
    )
    yield family(OLDEST, {(): seen.oldest_s or 0.0})
    yield family(PACE, {(name,): took for name, took in (("0.5", seen.p50), ("0.95", seen.p95)) if took is not None})
    yield family(SPENT, {(): float(seen.spent)})
    yield family(ORDERED, {(): float(seen.ordered)})
    yield family(
        LEFT, {(one.chain, one.keeper): one.reveals_left for one in seen.keepers if one.reveals_left is not None}
    )
    yield family(ALERTS, {(kind,): many for kind, many in seen.alerts.items()})


def family(named: Named, values: Values) -> Metric:
    kind = GaugeMetricFamily if named.kind == "gauge" else CounterMetricFamily
    made = kind(named.name, named.meaning, labels=list(named.labels))
    for labels, value in values.items():
        made.add_metric(list(labels), float(value))
    return made
