"""What it costs to judge a picture of full size: decoded, looked at and fingerprinted."""

from __future__ import annotations

import statistics
import time

from glisk.images.gate import judge
from tests import pictures

ROUNDS, SIDE = 15, 1024
FORMATS = ("png", "jpeg", "webp")
KINDS = ("landscape", "portrait", "nebula", "shapes", "night", "grain")


def measure() -> dict[str, float]:
    """The median in milliseconds by format, over kinds from plain to grainy."""
    drawn = [pictures.picture(1, kind, (SIDE, SIDE)) for kind in KINDS]
    return {format: median([pictures.encoded(picture, format) for picture in drawn]) for format in FORMATS}


def median(files: list[bytes]) -> float:
    return round(statistics.median(milliseconds(data) for _ in range(ROUNDS) for data in files), 1)


def milliseconds(data: bytes) -> float:
    started = time.perf_counter()
    judgement = judge(data, SIDE, SIDE)
    elapsed = 1000 * (time.perf_counter() - started)
    assert judgement.verdict == "pass"
    return elapsed
