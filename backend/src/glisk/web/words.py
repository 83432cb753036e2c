"""How numbers, times and names are written on a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import zip_longest
from typing import Any

from markupsafe import Markup, escape

NOTHING = "–"
THIN = "\u202f"  # between groups of three digits
MINUTE, HOUR, DAY = 60, 3600, 86_400
# Up to so many seconds it is said in these units.
AGES = ((MINUTE, 1, "s"), (HOUR, MINUTE, "min"), (2 * DAY, HOUR, "h"), (float("inf"), DAY, "d"))
SIZES = ("B", "kB", "MB", "GB", "TB")
LONG_NAME = re.compile(r"\b(0x[0-9a-fA-F]{40,}|baf[a-z0-9]{40,}|sha256/[\w/.]{40,})\b")
WEI = Decimal(10) ** 18


def money(dollars: Decimal | float | None) -> str:
    """Cents, and below a dollar as much as tells one picture from the next."""
    if dollars is None:
        return NOTHING
    amount = Decimal(dollars)
    if amount == 0:
        return "$0"
    places = Decimal("0.01") if abs(amount) >= 1 else Decimal("0.0001")
    return f"${amount.quantize(places, ROUND_HALF_EVEN):,}" if abs(amount) >= places else f"<${places}"


def ether(wei: int | Decimal | None) -> str:
    if wei is None:
        return NOTHING
    amount = Decimal(wei) / WEI
    return "0 ETH" if amount == 0 else f"{amount:.6f} ETH" if amount >= Decimal("0.000001") else "<0.000001 ETH"


def short(text: str | None, head: int = 6, tail: int = 4) -> str:
    """An address or a hash, as people tell them apart."""
    if not text:
        return NOTHING
    return text if len(text) <= head + tail + 1 else f"{text[:head]}…{text[-tail:]}"


def brief(text: str) -> Markup:
    """A text with the hashes and CIDs in it short, each whole on hover."""
    parts = LONG_NAME.split(text)
    names = (Markup('<code title="{}">{}</code>').format(name, short(name)) for name in parts[1::2])
    return Markup("").join(part for pair in zip_longest(map(escape, parts[::2]), names, fillvalue="") for part in pair)


def number(value: int | Decimal | None) -> str:
    return NOTHING if value is None else f"{value:,}".replace(",", THIN)


def duration(seconds: float | None) -> str:
    """Two units at most: 40 ms, 0.4 s, 12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h."""
    if seconds is None:
        return NOTHING
    if seconds < 0.1:
        return f"{max(round(seconds * 1000), 0)} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, name, part, part_name in ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "min"), (MINUTE, "min", 1, "s")):
        if whole >= unit:
            rest = whole % unit // part
            return f"{whole // unit} {name} {rest} {part_name}" if rest else f"{whole // unit} {name}"
    return f"{whole} s"


def size(count: int | None) -> str:
    if count is None:
        return NOTHING
    value, unit = float(count), 0
    while value >= 1000 and unit < len(SIZES) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {SIZES[unit]}" if unit else f"{count} B"


def age(seconds: float) -> str:
    """How long ago, or in how long, roughly; a page's script says it anew as time goes by."""
    gap = abs(seconds)
    said = next(f"{int(gap // unit)} {name}" for limit, unit, name in AGES if gap < limit)
    return f"in {said}" if seconds < -1 else f"{said} ago" if gap >= 1 else "now"


def ago(at: datetime | None, now: datetime | None = None) -> Markup | str:
    """Roughly, with the exact time on hover."""
    if at is None:
        return NOTHING
    said = age(((now or datetime.now(UTC)) - at).total_seconds())
    return Markup('<time datetime="{}" title="{}" data-ago>{}</time>').format(at.isoformat(), exact(at), said)


def exact(at: datetime | None) -> str:
    return NOTHING if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def clock(at: datetime | None) -> Markup | str:
    """The time of day to the tenth of a second, for what happened close together."""
    if at is None:
        return NOTHING
    said = f"{at.astimezone(UTC):%H:%M:%S}.{at.microsecond // 100_000}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at.isoformat(), exact(at), said)


FILTERS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (money, ether, short, brief, number, duration, size, ago, exact, clock)
}
