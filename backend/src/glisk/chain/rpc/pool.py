"""Several endpoints of one chain as one: whoever asks gets an answer from one that is well, or learns that none is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import structlog

from glisk.chain.rpc import names, ranges
from glisk.chain.rpc.call import Answer, Call, RangeTooWide, Refused, RpcTrouble
from glisk.chain.rpc.classify import Faulty, RateLimited
from glisk.chain.rpc.endpoint import Endpoint
from glisk.chain.rpc.limits import Limits
from glisk.errors import RpcUnreachable, WrongChain

log = structlog.get_logger()

DEFAULT = Limits()


class WireHead(msgspec.Struct):
    number: str


PROBE = (
    Call("eth_chainId", [], lambda raw: int(msgspec.json.decode(raw, type=str), 16)),
    Call(
        "eth_getBlockByNumber",
        ["latest", False],
        lambda raw: int(msgspec.json.decode(raw, type=WireHead).number, 16),
    ),
)


@dataclass(frozen=True, slots=True)
class Health:
    """Of one endpoint, for people. `latency` in seconds, `rate` in calls a second."""

    name: str
    is_healthy: bool
    why: str  # it is not
    head: int
    latency: float | None
    rate: float
    range_cap: int | None
    requests: int
    errors: Mapping[str, int]


@dataclass(slots=True)
class Try:
    """One question on its way through the endpoints."""

    calls: Sequence[Call[Any]]
    width: int
    faults: dict[str, int] = field(default_factory=dict)  # by endpoint
    refusals: dict[str, RpcTrouble] = field(default_factory=dict)
    slow: int = 0


class Rpc:
    """The first endpoint that is well is used, and stays in use while it is. `now` and `sleep` are the clock."""

    def __init__(
        self,
        chain_id: int,
        urls: Sequence[str],
        *,
        limits: Limits = DEFAULT,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.chain_id, self.limits, self.now, self.sleep = chain_id, limits, now, sleep
        named = zip(urls, names.unique(urls), strict=True)
        self.endpoints = [Endpoint(url, name, limits, now, sleep) for url, name in named]
        self.current = self.endpoints[0]
        self.probes: dict[str, asyncio.Task[bool]] = {}

    async def ask(self, *calls: Call[Any], other_than: str | None = None) -> Answer:
        """All of it from one endpoint; `other_than`: preferably not this one. Raises RangeTooWide, NotThere and Refused as
        they are met, RpcUnreachable when nobody has answered in time, WrongChain when there is nobody to ask."""
        self.look_around()
        total = self.limits.total.total_seconds()
        try:
            async with asyncio.timeout(total):
                return await self.answered(Try(calls, ranges.width_of(calls)), other_than, self.now() + total)
        except TimeoutError as error:
            raise self.unreachable() from error

    async def answered(self, asked: Try, other_than: str | None, until: float) -> Answer:
        while self.now() < until:
            endpoint = await self.chosen(other_than, asked.refusals, until)
            if endpoint is None:
                continue
            try:
                results = await endpoint.ask(asked.calls)
            except RpcTrouble as trouble:
                await self.had(trouble, endpoint, asked)
            else:
                endpoint.condition.worked()
                return Answer(results, endpoint.name)
        raise self.unreachable()

    async def had(self, trouble: RpcTrouble, endpoint: Endpoint, asked: Try) -> None:
        """Raises what is the caller's business; otherwise the question goes on, here or elsewhere."""
        match trouble:
            case RateLimited():
                log.info("an endpoint asked to be left alone", endpoint=endpoint.name, said=str(trouble))
            case Faulty():
                await self.faulted(trouble, endpoint, asked)
            case Refused(is_revert=False):
                asked.refusals[endpoint.name] = trouble
            case RangeTooWide() if asked.width == 1:  # there is no smaller range, but perhaps a more generous endpoint
                asked.refusals[endpoint.name] = trouble
            case _:
                raise trouble

    async def faulted(self, fault: Faulty, endpoint: Endpoint, asked: Try) -> None:
        """Whether it is the endpoint, or only that answer, a probe tells. A question that is twice too slow for an endpoint
        that lives asks for too much."""
        count = asked.faults[endpoint.name] = asked.faults.get(endpoint.name, 0) + 1
        log.info("an endpoint failed", endpoint=endpoint.name, why=str(fault))
        if not await self.probed(endpoint):
            return
        asked.slow += fault.is_slow
        if asked.slow > 1 and asked.width > 1:
            raise RangeTooWide(f"{asked.width} blocks: {fault}") from fault
        if count > 1:
            endpoint.condition.rest(str(fault))

    async def chosen(self, other_than: str | None, refusals: Mapping[str, RpcTrouble], until: float) -> Endpoint | None:
        """One that is known to be well. None: there is none now, and time has passed."""
        if all(endpoint.condition.banned for endpoint in self.endpoints):
            raise WrongChain("\n".join(f"{each.name}: {each.condition.banned}" for each in self.endpoints))
        usable = [each for each in self.endpoints if each.condition.is_up and each.name not in refusals]
        if not usable:
            if refusals:
                raise next(iter(refusals.values()))
            await self.rest(until)
            return None
        endpoint = self.preferred(usable, other_than)
        if not endpoint.condition.is_fresh and not await self.probed(endpoint):
            return None
        self.stay_with(endpoint, other_than)
        return endpoint

    async def rest(self, until: float) -> None:
        back_at = min(each.condition.back_at for each in self.endpoints if not each.condition.banned)
        await self.sleep(max(0.0, min(back_at, until) - self.now()))

    def preferred(self, usable: Sequence[Endpoint], other_than: str | None) -> Endpoint:
        good = [each for each in usable if not each.condition.is_passed_over] or usable
        if other_than is not None:
            good = [each for each in good if each.name != other_than] or good
        if self.current not in good:
            return good[0]
        before = self.endpoints[: self.endpoints.index(self.current)]
        return next((each for each in before if each in good and each.condition.is_steady), self.current)

    def stay_with(self, endpoint: Endpoint, other_than: str | None) -> None:
        """One that only stands in, for a second opinion or while the other cools down, does not become the one in use."""
        before = self.current
        is_return = other_than is None and self.endpoints.index(endpoint) < self.endpoints.index(before)
        if endpoint is before or not (before.condition.is_out or (is_return and endpoint.condition.is_steady)):
            return
        self.current = endpoint
        log.warning(
            "switched to another endpoint", endpoint=endpoint.name, was=before.name, why=before.condition.told()
        )

    async def probed(self, endpoint: Endpoint) -> bool:
        """Whether it lives and serves our chain. Whoever asks while it is found out waits along."""
        return await asyncio.shield(self.probe_of(endpoint))

    def probe_of(self, endpoint: Endpoint) -> asyncio.Task[bool]:
        if endpoint.name not in self.probes:
            task = self.probes[endpoint.name] = asyncio.create_task(self.probe(endpoint))
            task.add_done_callback(lambda _: self.probes.pop(endpoint.name, None))
        return self.probes[endpoint.name]

    async def probe(self, endpoint: Endpoint) -> bool:
        try:
            async with asyncio.timeout(self.limits.probe.total_seconds()):
                chain_id, head = await endpoint.ask(PROBE, is_probe=True)
        except TimeoutError:
            endpoint.condition.rest(f"it did not answer within {self.limits.probe.total_seconds():g} s")
        except RateLimited:
            pass
        except RpcTrouble as trouble:
            endpoint.condition.rest(str(trouble))
        else:
            return self.is_ours(endpoint, chain_id, head)
        return False

    def is_ours(self, endpoint: Endpoint, chain_id: int, head: int) -> bool:
        if chain_id != self.chain_id:
            endpoint.condition.ban(f"it serves chain {chain_id}, not {self.chain_id}")
            log.error("an endpoint serves another chain, and is not used", endpoint=endpoint.name, chain=chain_id)
            return False
        self.saw_head(endpoint.name, head)
        endpoint.condition.was_seen()
        return True

    def saw_head(self, name: str, number: int, at: float | None = None) -> None:
        """The number of the latest block, as an endpoint gave it."""
        for endpoint in self.endpoints:
            if endpoint.name == name:
                others = [
                    each.condition for each in self.endpoints if each is not endpoint and not each.condition.banned
                ]
                endpoint.condition.showed(number, self.now() if at is None else at, others)

    def doubt(self, name: str, why: str) -> None:
        """Somebody knows better: another endpoint is asked, and this one only when it has been well for a while."""
        for endpoint in self.endpoints:
            if endpoint.name == name:
                endpoint.condition.rest(why)
                log.warning("an endpoint is not believed", endpoint=name, why=why)

    def look_around(self) -> None:
        """At those not in use, now and then: how else would one know that they are well again, or further?"""
        for endpoint in self.endpoints:
            condition = endpoint.condition
            if endpoint is not self.current and condition.is_up and not condition.is_fresh:
                self.probe_of(endpoint)

    def range_cap(self, other_than: str | None = None) -> int | None:
        """How many blocks may be asked for at most, as far as is known, from whom `ask` would ask now."""
        usable = [each for each in self.endpoints if each.condition.is_up]
        return self.preferred(usable or [self.current], other_than).cap.most

    def health(self) -> list[Health]:
        return [health(endpoint) for endpoint in self.endpoints]

    def unreachable(self) -> RpcUnreachable:
        return RpcUnreachable(
            " ".join(f"{each.name}: {each.condition.why or 'no answer in time'}." for each in self.endpoints)
        )

    async def close(self) -> None:
        probes = list(self.probes.values())
        for probe in probes:
            probe.cancel()
        await asyncio.gather(*probes, return_exceptions=True)
        for endpoint in self.endpoints:
            await endpoint.close()


def health(endpoint: Endpoint) -> Health:
    condition = endpoint.condition
    return Health(
        endpoint.name,
        condition.seen_at is not None and not condition.told(),
        condition.told(),
        condition.head,
        endpoint.latency,
        endpoint.rate.value,
        endpoint.cap.most,
        endpoint.requests,
        dict(endpoint.errors),
    )
