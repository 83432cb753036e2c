"""Pins are looked at again and again: what is missing is put back from object storage, what is to be elsewhere too is put there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from glisk.engine.link import Link
from glisk.engine.periodic import Periodic
from glisk.errors import (
    BadCid,
    BadObjectKey,
    ObjectDamaged,
    ObjectMissing,
    PinError,
    PinForbidden,
    PinLimited,
    PinRefused,
    StorageError,
    WrongCid,
)
from glisk.publishing import pins
from glisk.publishing.pins import Due
from glisk.storage.ipfs.port import Pinner
from glisk.storage.ipfs.unixfs import dag
from glisk.storage.objects import Objects

log = structlog.get_logger()

EVERY = timedelta(seconds=10)
BATCH = 4  # at once; their files are in memory
SPREAD = 1000  # CIDs a run, round and round; a few milliseconds
LEASE = timedelta(minutes=20)  # longer than looking, reading and putting may take together
AT_A_STRETCH_S = 30.0  # then other periodic work has its turn
SHORTEST, LONGEST = timedelta(minutes=1), timedelta(hours=1)
OF_THE_FILE = (PinRefused, WrongCid, BadCid, ObjectMissing, ObjectDamaged, BadObjectKey)


def tending(link: Link, pinners: Sequence[Pinner], objects: Objects, check_after: timedelta) -> Periodic:
    return Periodic("tend pins", EVERY, Tending(link, pinners, objects, check_after).run)


@dataclass(slots=True)
class Rest:
    """A service in trouble is left alone: a minute, then twice as long each time, or for as long as it says."""

    until: float = 0.0
    troubles: int = 0

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.until

    @property
    def left(self) -> timedelta:
        return timedelta(seconds=max(self.until - time.monotonic(), 0))

    def begin(self, error: PinError | StorageError) -> None:
        length = min(SHORTEST * 2 ** min(self.troubles, 10), LONGEST)
        if isinstance(error, PinLimited):
            length = error.after
        elif isinstance(error, PinForbidden):
            length = LONGEST
        self.until, self.troubles = time.monotonic() + length.total_seconds(), self.troubles + 1

    def end(self) -> None:
        self.until, self.troubles = 0.0, 0


@dataclass(slots=True)
class Place:
    pinner: Pinner
    rest: Rest = field(default_factory=Rest)


class Tending:
    """Rows of pinners that are not among ours are left alone. No transaction is open while a service is asked."""

    def __init__(self, link: Link, pinners: Sequence[Pinner], objects: Objects, check_after: timedelta) -> None:
        self.link, self.objects, self.check_after = link, objects, check_after
        self.places = {pinner.name: Place(pinner) for pinner in pinners}
        self.spread = ""  # up to this CID

    async def run(self) -> None:
        """What is due, as far as it can be done for now."""
        end = time.monotonic() + AT_A_STRETCH_S
        self.spread = await pins.spread(self.link.fetch, list(self.places), self.spread, SPREAD)
        while time.monotonic() < end and await self.once():
            pass

    async def once(self) -> int:
        """How many were looked at."""
        names = [name for name, place in self.places.items() if place.rest.is_over]
        due = await pins.taken(self.link.fetch, names, BATCH, LEASE)
        outcomes = await asyncio.gather(*map(self.tended, due), return_exceptions=True)
        for broken in filter(None, outcomes):
            raise broken
        return len(due)

    async def tended(self, pin: Due) -> None:
        place = self.places[pin.pinner]
        try:
            await self.ensured(pin, place.pinner)
        except OF_THE_FILE as error:
            await self.failed(pin, error)
        except (PinError, StorageError) as error:  # of the service, or of where the bytes are read from
            await self.troubled(pin, place.rest, error)
        else:
            place.rest.end()
            await pins.found(self.link.fetch, pin, self.check_after)

    async def ensured(self, pin: Due, pinner: Pinner) -> None:
        if pin.is_pinned:
            if await pinner.has(pin.cid):
                return
            log.warning("a pin is missing", cid=pin.cid, pinner=pin.pinner, label=pin.label)
            await pins.missed(self.link.fetch, pin)
        await self.put(pin, pinner)
        log.info("pinned", cid=pin.cid, pinner=pin.pinner, label=pin.label)

    async def put(self, pin: Due, pinner: Pinner) -> None:
        data = await self.objects.get(pin.object_key)
        if data is None:
            raise ObjectMissing(f"{pin.object_key}, which is {pin.label}.")
        content = await asyncio.to_thread(dag, data)
        if content.root != pin.cid:
            raise ObjectDamaged(
                f"{pin.object_key}, which is {pin.label}, has the CID {content.root} and not {pin.cid}."
            )
        await pinner.put(content, pin.label)

    async def troubled(self, pin: Due, rest: Rest, error: PinError | StorageError) -> None:
        """Told once, however many pins wait for the same service."""
        if rest.is_over:
            rest.begin(error)
            log.warning("pins wait for their service", pinner=pin.pinner, error=str(error), remedy=error.fix)
        longest = None if isinstance(error, PinLimited) else LONGEST
        await pins.put_off(self.link.fetch, pin, str(error), rest.left, longest)

    async def failed(self, pin: Due, error: PinError | StorageError) -> None:
        log.error("a pin cannot be kept", cid=pin.cid, pinner=pin.pinner, label=pin.label, error=str(error))
        await pins.put_off(self.link.fetch, pin, str(error), SHORTEST, LONGEST)
