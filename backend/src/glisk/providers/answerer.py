"""The port to whoever answers a question: what it is about goes in, an answer comes out, or one of the errors under ProviderError."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from glisk.providers.port import Receipt

Question = TypeVar("Question", contravariant=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """What it said, what it charged (None: nobody knows), and what else the ledger should keep."""

    output: Any
    cost: Decimal | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Answerer(Protocol[Question]):
    """`is_free`: it may be asked again and again. `has_receipts`: a question whose answer was lost can be found again; otherwise
    nobody can tell what became of it."""

    name: str
    model: str
    is_free: bool
    has_receipts: bool

    def words(self, question: Question) -> str:
        """What the ledger keeps of it."""

    async def answer(self, question: Question, receipt: Receipt) -> Answer: ...

    async def forget(self, receipt: Receipt) -> Decimal | None:
        """Nobody wants it any more: stop it if it can be stopped. What it cost all the same, if that is known."""

    async def close(self) -> None: ...
