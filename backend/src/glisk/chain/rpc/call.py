"""One question to a node, and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

T_co = TypeVar("T_co", covariant=True)
Why: TypeAlias = Literal["known", "nonce", "fee", "funds", "content"]


@dataclass(frozen=True, slots=True)
class Call(Generic[T_co]):
    """`read` makes the answer's `result`, raw JSON, into what the caller wants; it raises ValueError or msgspec's errors for
    an answer that is not one. `may_fail`: a refusal of this call is its answer, and says nothing about the endpoint."""

    method: str
    params: Sequence[Any]
    read: Callable[[msgspec.Raw], T_co]
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One result for each call, in their order; None for one that was allowed to fail and did. All from one endpoint."""

    results: list[Any]
    endpoint: str


class RpcTrouble(Exception):
    """Why a question has no answer now."""


class RangeTooWide(RpcTrouble):
    """So many blocks, or so many logs, cannot be asked for at once. `at_most`: blocks that the endpoint says it takes; None:
    it did not say. `is_plan`: a limit of the plan, which stays; otherwise these blocks are dense, and others may not be."""

    def __init__(self, said: str, at_most: int | None = None, *, is_plan: bool = False) -> None:
        super().__init__(said)
        self.at_most, self.is_plan = at_most, is_plan


class NotThere(RpcTrouble):
    """The node does not have the block, or not yet: it is behind, or on another branch. No evidence of anything."""


class Refused(RpcTrouble):
    """The node will not answer this: the contract reverted (`is_revert`), or the method or its parameters are none it takes."""

    def __init__(self, said: str, *, is_revert: bool = False) -> None:
        super().__init__(said)
        self.is_revert = is_revert


class Rejected(RpcTrouble):
    """The node does not take this transaction: it has it already, its nonce was used, it offers too little, its sender has too little,
    or there is something wrong with it that another node would not take either."""

    def __init__(self, said: str, why: Why) -> None:
        super().__init__(said)
        self.why = why
