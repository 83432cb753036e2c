"""How many blocks to ask for at once: as many as go, found out by asking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from glisk.chain.rpc.call import Call, RangeTooWide, RpcTrouble

GROWTH, WARY_GROWTH = 1.5, 1.125
CALM = 4  # successes near where it failed before more is tried


class OneBlockTooBig(RpcTrouble):
    """Not even the logs of a single block fit into an answer."""


@dataclass(frozen=True, slots=True)
class Span:
    """What goes depends on how dense the blocks are, and that changes both ways. Answers may come in any order and many at
    once, so each is judged by the width that was asked for: eight that fail together shrink it once."""

    width: int = 100
    most: int = 10_000
    wary: int | None = None  # widths from here on failed not long ago: they are approached slowly
    calm: int = 0  # successes there

    def next(self, cap: int | None = None) -> int:
        """`cap`: what the endpoint's plan allows."""
        return max(1, min(self.width, self.most, cap or self.most))

    def after_success(self, asked: int) -> Span:
        """Less than the present width proves nothing about more."""
        if asked < self.next():
            return self
        if self.wary is None or asked < self.wary:
            return replace(self, width=min(self.grown(asked, GROWTH), self.wary or self.most))
        if self.calm + 1 < CALM:
            return replace(self, calm=self.calm + 1)
        width = self.grown(asked, WARY_GROWTH)
        return replace(self, width=width, calm=0, wary=self.wary if width < 2 * self.wary else None)

    def grown(self, asked: int, factor: float) -> int:
        return min(max(int(asked * factor), asked + 1), self.most)

    def after(self, trouble: RangeTooWide, asked: int) -> Span:
        """At once, to what the endpoint says or to half. Some say a width that they have just refused."""
        if asked <= 1:
            raise OneBlockTooBig(str(trouble)) from trouble
        width = trouble.at_most if trouble.at_most and trouble.at_most < asked else asked // 2
        wary = self.wary if trouble.is_plan else max(1, asked * 3 // 4)
        return replace(self, width=max(1, min(self.width, width)), wary=wary, calm=0)


@dataclass(frozen=True, slots=True)
class Cap:
    """What an endpoint's plan allows. Some say the number; of others only what went and what did not is known."""

    good: int = 0
    bad: int | None = None
    said: int | None = None

    @property
    def most(self) -> int | None:
        """None: no limit is known. Between what went and what did not, the middle is tried, until they are near."""
        if self.bad is None:
            return self.said
        guess = max(1, (self.good + self.bad) // 2 if self.is_open else self.good)
        return min(guess, self.said or guess)

    @property
    def is_open(self) -> bool:
        return self.bad is not None and self.bad - self.good > max(1, self.good // 16)

    def forgotten(self) -> Cap:
        """What was only guessed may have been a passing mood of the endpoint."""
        return Cap(said=self.said)

    def after_success(self, asked: int) -> Cap:
        """A limit that let this pass is no longer in force."""
        if asked <= self.good:
            return self
        is_over = self.bad is not None and asked >= self.bad
        return Cap(asked, None if is_over else self.bad, None if self.said and asked > self.said else self.said)

    def after(self, trouble: RangeTooWide, asked: int) -> Cap:
        """A number that would have allowed what was refused is not the limit that was met."""
        if not trouble.is_plan or asked <= 1:
            return self
        if trouble.at_most and trouble.at_most < asked:
            return Cap(min(self.good, trouble.at_most), self.bad, trouble.at_most)
        good = self.good if self.good < asked else 0
        return Cap(good, asked if self.bad is None else min(self.bad, asked), self.said)


def width_of(calls: Iterable[Call[Any]]) -> int:
    """Of the widest range of blocks whose logs are asked for; 0: none is."""
    return max((width_of_one(call) for call in calls), default=0)


def width_of_one(call: Call[Any]) -> int:
    terms = call.params[0] if call.method == "eth_getLogs" and call.params else None
    if not isinstance(terms, dict):
        return 0
    try:
        return int(terms["toBlock"], 16) - int(terms["fromBlock"], 16) + 1
    except (KeyError, TypeError, ValueError):
        return 1  # by the block's hash
