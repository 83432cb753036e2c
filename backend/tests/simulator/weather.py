"""How bad things are for one seed: how often each thing goes wrong, and which one does now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random


class Fault(StrEnum):
    # of a whole request
    BUSY = "429"
    DOWN = "503"
    TRUNCATED = "the JSON ends too early"
    HUNG_UP = "the connection is dropped"
    SILENT = "no answer before the deadline"
    # of one call
    REFUSED = "an error for an answer"
    # of one answer about logs
    DROPPED = "some logs are missing"
    DOUBLED = "some logs come twice"
    SHUFFLED = "logs are out of order"
    REMOVED = "logs that were removed come along"
    UNFILTERED = "logs that nobody asked for come along"
    # of a backend, for a while
    UNINDEXED = "the header is there, its logs are not"


@dataclass(frozen=True)
class Weather:
    odds: Mapping[Fault, float] = field(default_factory=dict)
    reorg: float = 0.0  # per step
    leap: float = 0.0  # many blocks at once

    def strikes(self, fault: Fault, random: Random) -> bool:
        return random.random() < self.odds.get(fault, 0.0)

    def one_of(self, faults: tuple[Fault, ...], random: Random) -> Fault | None:
        """At most one of them: the first that strikes."""
        return next((fault for fault in faults if self.strikes(fault, random)), None)

    def but(self, **odds: float) -> Weather:
        return Weather({**self.odds, **{Fault[name]: value for name, value in odds.items()}}, self.reorg, self.leap)


OF_A_REQUEST = (Fault.BUSY, Fault.DOWN, Fault.TRUNCATED, Fault.HUNG_UP, Fault.SILENT)
OF_LOGS = (Fault.DROPPED, Fault.DOUBLED, Fault.SHUFFLED, Fault.REMOVED, Fault.UNFILTERED)

CALM = Weather()
ROUGH = Weather(
    {
        Fault.BUSY: 0.01,
        Fault.DOWN: 0.005,
        Fault.TRUNCATED: 0.005,
        Fault.HUNG_UP: 0.005,
        Fault.SILENT: 0.001,
        Fault.REFUSED: 0.02,
        Fault.DROPPED: 0.01,
        Fault.DOUBLED: 0.03,
        Fault.SHUFFLED: 0.03,
        Fault.REMOVED: 0.03,
        Fault.UNFILTERED: 0.03,
        Fault.UNINDEXED: 0.2,
    },
    reorg=0.08,
    leap=0.02,
)
