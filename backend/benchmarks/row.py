"""One result: a figure of ours beside the one it is compared with."""

from __future__ import annotations

from typing import TypedDict


class Row(TypedDict):
    part: str
    measure: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    at_least: float
    holds: bool


def compared(
    part: str, measure: str, peer: str, *, ours: float, theirs: float, at_least: float, more_is_better: bool = False
) -> Row:
    """`ratio` is how many times better ours is."""
    ratio = round(ours / theirs if more_is_better else theirs / ours, 3)
    return Row(
        part=part,
        measure=measure,
        peer=peer,
        ours=ours,
        theirs=theirs,
        ratio=ratio,
        at_least=at_least,
        holds=ratio >= at_least,
    )
