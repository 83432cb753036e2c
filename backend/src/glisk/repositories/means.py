"""For how many reveals will a keeper's money do? At the price and the gas of the last ones, wherever it is asked."""

from __future__ import annotations

USUAL_GAS = 95_000  # to reveal one token, in a batch of a few, before one was
# Of a row of chain_sender. NULL: nobody knows the price yet.
REVEALS_LEFT = f"floor(balance_wei / NULLIF(fee_wei * COALESCE(gas_per_token, {USUAL_GAS}), 0))"


def with_means(sql: str) -> str:
    """A statement that says REVEALS_LEFT where it wants to know."""
    return sql.replace("REVEALS_LEFT", REVEALS_LEFT)


def reveals_left(balance: int, price: int, gas: int | None) -> int:
    """The same, of what somebody has just seen."""
    return balance // max(1, price * (gas or USUAL_GAS))
