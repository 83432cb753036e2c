"""Three nodes behind one URL, and how time passes for them: a step of the chain for every so many looks at its head."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any

from tests.simulator.backend import Backend, Refusal
from tests.simulator.tree import Kind, Tree
from tests.simulator.weather import CALM, OF_A_REQUEST, ROUGH, Fault, Weather

BACKENDS = 3
DEEPEST = 10
LOOKS = (["eth_blockNumber"], ["eth_getBlockByNumber", "latest"])


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes over the wire, or what happens instead of it."""

    status: int
    body: bytes
    fault: Fault | None = None


class Nodes:
    """`steps`: how long things go wrong; then everybody is honest and up to date, and the chain only grows. Faults are drawn
    from the seed, the request's number and its contents: they replay as exactly as the requests come again."""

    def __init__(self, tree: Tree, weather: Weather = CALM, steps: int = 0, *, is_moving: bool = True) -> None:
        """`is_moving`: the chain grows when it is looked at. Otherwise somebody else moves it, and calls `spread`."""
        self.tree, self.weather, self.steps, self.is_moving = tree, weather, steps, is_moving
        self.random = Random(f"nodes {tree.seed}")
        self.cap = self.random.choice((None, None, 7, 20))
        self.looks_per_step = self.random.randint(1, 3)
        self.tally: Counter[str] = Counter()  # what has happened, so that one sees that it does
        self.backends = [Backend(n, tree, self.random.random() < 0.5, self.cap, self.tally) for n in range(BACKENDS)]
        self.requests = self.looks = self.step = 0
        self.settled_at: int | None = None  # the height
        self.waiting: list[tuple[int, asyncio.Event]] = []

    async def reached(self, step: int) -> None:
        if self.step < step:
            event = asyncio.Event()
            self.waiting.append((step, event))
            await event.wait()

    async def settled(self) -> int:
        """The height of the chain when things stopped going wrong."""
        await self.reached(self.steps)
        assert self.settled_at is not None
        return self.settled_at

    def reply(self, body: bytes) -> Reply:
        """One request is one backend's, be it one call or many."""
        asked = json.loads(body)
        calls = asked if isinstance(asked, list) else [asked]
        luck = self.luck(calls)
        self.look(calls)
        backend, fault = luck.choice(self.backends), self.weather.one_of(OF_A_REQUEST, luck)
        if fault is not None:
            self.tally[fault.name] += 1
        if fault in (Fault.BUSY, Fault.DOWN):
            return Reply(429 if fault is Fault.BUSY else 503, b'{"error": "not now"}', fault)
        answers = [self.answer(backend, call, luck) for call in calls]
        whole = json.dumps(answers if isinstance(asked, list) else answers[0]).encode()
        return Reply(200, whole[: luck.randrange(len(whole))] if fault is Fault.TRUNCATED else whole, fault)

    def luck(self, calls: list[Any]) -> Random:
        self.requests += 1
        contents = json.dumps([(call["method"], call.get("params")) for call in calls])
        return Random(f"{self.tree.seed} {self.requests} {sha256(contents.encode()).hexdigest()}")

    def answer(self, backend: Backend, call: dict[str, Any], luck: Random) -> dict[str, Any]:
        base = {"jsonrpc": "2.0", "id": call.get("id")}
        try:
            return base | {
                "result": backend.answer(call["method"], call.get("params", []), self.step, self.weather, luck)
            }
        except Refusal as refusal:
            return base | {"error": {"code": refusal.code, "message": refusal.message}}

    def look(self, calls: list[Any]) -> None:
        if any([call["method"], *call.get("params", [])[:1]] in LOOKS for call in calls):
            self.looks += 1
            if self.looks % self.looks_per_step == 0 and self.is_moving:
                self.advance()

    def advance(self) -> None:
        """One step."""
        self.step += 1
        if self.step >= self.steps:
            self.settle()
        else:
            self.move()
        self.tell()

    def settle(self) -> None:
        self.weather = CALM
        self.tree.grow()
        if self.settled_at is None:
            self.settled_at = self.tree.head.number
        for backend in self.backends:
            backend.lag = backend.stays = 0
        self.spread()

    def move(self) -> None:
        luck = self.random.random()
        if luck < self.weather.reorg:
            self.reorganise(self.random.choice((1, 1, 1, 2, 2, 3, 4, 6, 8, DEEPEST)))
        elif luck < self.weather.reorg + self.weather.leap:
            self.grow(self.random.randint(2, 30))
        elif luck < 0.95:
            self.grow(self.random.choice((1, 1, 1, 1, 1, 2)))
        self.spread()

    def grow(self, blocks: int) -> None:
        for _ in range(blocks):
            self.tree.grow()

    def reorganise(self, depth: int) -> None:
        """Some backends do not hear of it for a while."""
        self.tree.reorganise(depth)
        self.tally["reorg"] += 1
        for backend in self.backends:
            backend.stays = self.random.choice((0, 0, 1, 3, 6))

    def spread(self) -> None:
        for backend in self.backends:
            if self.weather is not CALM and self.random.random() < 0.2:
                backend.lag = self.random.choice((0, 0, 1, 2, 3))
            backend.follow(self.step, self.weather)

    def tell(self) -> None:
        due = [event for step, event in self.waiting if step <= self.step]
        self.waiting = [(step, event) for step, event in self.waiting if step > self.step]
        for event in due:
            event.set()


def drawn(seed: int, steps: int | None = None) -> Nodes:
    """The whole simulation of a seed: which kind of collection, how long its history is, how bad things are."""
    random = Random(f"simulation {seed}")
    kind = random.choice((Kind.GLISK, Kind.GLISK, Kind.PLAIN))
    tree = Tree(seed, kind)
    for _ in range(random.choice((1, 15, 60, 200))):
        tree.grow()
    # Nothing proves that a plain collection's logs are complete, so nobody drops any.
    weather = ROUGH.but(DROPPED=0.0) if kind is Kind.PLAIN else ROUGH
    return Nodes(tree, weather, steps or random.randint(80, 140))
