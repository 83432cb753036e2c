"""What a transaction offers for its gas. Pure: no node is asked here."""

from __future__ import annotations

from msgspec import Struct

from glisk.errors import FeeTooHigh

GWEI = 10**9


class Market(Struct, frozen=True):
    """What gas costs now, in wei: what the chain takes, and what whoever builds blocks wants on top."""

    base: int
    tip: int

    @property
    def price(self) -> int:
        return self.base + self.tip


class Fees(Struct, frozen=True):
    """The most that is paid for a unit of gas, and how much of it goes to whoever builds the block."""

    most: int
    tip: int


def offered(market: Market, limit: int) -> Fees:
    """Enough for six full blocks in a row, each of which makes gas dearer by an eighth. Raises FeeTooHigh when not even this block
    can be paid for."""
    if market.price > limit:
        raise FeeTooHigh(f"{gwei(market.price)} gwei a unit; at most {gwei(limit)} may be paid.")
    return Fees(min(2 * market.base + market.tip, limit), market.tip)


def raised(before: Fees, market: Market, limit: int) -> Fees | None:
    """What may take the place of a transaction that offered this: nodes want a tenth more of both, and some an eighth. None: it
    would be more than may be paid, so what was sent must do."""
    tip = max(more(before.tip), market.tip)
    most = max(more(before.most), 2 * market.base + tip)
    most = min(most, limit)
    return Fees(most, tip) if most >= more(before.most) and tip <= most else None


def more(amount: int) -> int:
    return amount + amount // 8 + 1


def gwei(wei: int) -> str:
    return f"{wei / GWEI:.3g}"
