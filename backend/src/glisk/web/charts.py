"""Charts as SVG text: numbers in, a picture out that can be read aloud, told apart without colour, and dressed by style sheets alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

WIDTH, HEIGHT = 720, 260
RULER = 360
LEFT, RIGHT, TOP, BOTTOM = 86, 8, 14, 34
SERIES = 5  # so many looks there are; the last one stands for all others
SHORTEST = 1.0  # what is not nothing can be seen
SMALLEST, LARGEST = 1e-12, 1e30  # beyond that, a number is a mistake
TILE = 8
# What lies over the colour of each: lines this way, dots, lines that way, a grid. The first has none.
MARKS = {
    2: '<path class="mark" d="M-2 2L2 -2M0 8L8 0M6 10L10 6"/>',
    3: '<circle class="mark-dot" cx="4" cy="4" r="1.5"/>',
    4: '<path class="mark" d="M-2 6L2 10M0 0L8 8M6 -2L10 2"/>',
    5: '<path class="mark" d="M0 4H8M4 0V8"/>',
}
ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)  # what a scale may end in, and as many noughts as it takes


class Column(NamedTuple):
    """What stands over one place of the axis: its name, and how much of each series."""

    name: str
    parts: Mapping[str, float]


class Mark(NamedTuple):
    name: str
    at: int


def stacked(
    columns: Sequence[Column],
    series: Sequence[str],
    *,
    id: str,
    title: str,
    said: Callable[[float], str],
    limit: float | None = None,
) -> Markup:
    """Columns of stacked parts, with a line where the limit is. `said`: how an amount is written."""
    tallest = max([sum(sane(part) for part in column.parts.values()) for column in columns], default=0.0)
    top = ceiling(max(tallest, sane(limit or 0)))
    body = [*patterns(id), *grid(top, said), *bars(columns, series, top, id, said), *names(columns)]
    if limit is not None:
        body += limit_line(sane(limit), top, said)
    return picture(WIDTH, HEIGHT, title, described(columns, said, limit), body)


def ruler(marks: Sequence[Mark], *, title: str) -> Markup:
    """Points on a line, the first at its left end and the furthest at its right: how far each has come."""
    first, last = min((mark.at for mark in marks), default=0), max((mark.at for mark in marks), default=0)
    span = max(last - first, 1)
    places = [(mark, 12 + (RULER - 24) * (mark.at - first) / span) for mark in marks]
    line = Markup('<line class="axis" x1="12" y1="12" x2="{}" y2="12"/>').format(RULER - 12)
    points = [
        Markup('<circle class="series-{}" cx="{}" cy="12" r="{}"><title>{} {}</title></circle>').format(
            look(n), drawn(x), drawn(3 + 1.5 * (len(places) - n)), mark.name, mark.at
        )
        for n, (mark, x) in enumerate(places, 1)
    ]
    told = ", ".join(f"{mark.name} {mark.at}" for mark in marks) or "nothing yet"
    return picture(RULER, 24, title, told, [line, *points])


def bar(share: float, *, series: int = 1) -> Markup:
    """How much of the whole. What it shows stands beside it in words, so nobody is told of it twice."""
    width = max(min(sane(share), 1) * 100, SHORTEST if sane(share) > 0 else 0)
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        '<rect class="bar-ground" width="100" height="8"/><rect class="series-{}" width="{}" height="8"/></svg>'
    ).format(look(series), drawn(width))


def wait_and_work(wait: float | None, work: float | None, longest: float, *, id: str) -> Markup:
    """A step's time: the wait hatched, the work solid, on a scale that all steps share. Its numbers stand beside it."""
    scale = 100 / sane(longest) if sane(longest) > 0 else 0.0
    waited, worked = (min(sane(each or 0) * scale, 100) for each in (wait, work))
    worked = min(max(worked, SHORTEST if work else 0), 100 - min(waited, 100 - SHORTEST))
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false"><defs>{}</defs>'
        '<rect class="bar-ground" width="100" height="8"/><rect fill="url(#{}-hatch)" width="{}" height="8"/>'
        '<rect class="series-1" x="{}" width="{}" height="8"/></svg>'
    ).format(hatch(id), id, drawn(waited), drawn(min(waited, 100 - SHORTEST)), drawn(worked))


def swatch(n: int, *, id: str) -> Markup:
    """A series as the legend shows it; the patterns are those of the chart with this id."""
    over = Markup('<rect width="12" height="12" fill="url(#{}-{})"/>').format(id, look(n)) if look(n) > 1 else ""
    return Markup(
        '<svg viewBox="0 0 12 12" aria-hidden="true" focusable="false"><rect class="series-{}" width="12" height="12"/>{}</svg>'
    ).format(look(n), over)


def picture(width: int, height: int, title: str, description: str, body: Sequence[Markup]) -> Markup:
    head = Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" xmlns="http://www.w3.org/2000/svg"><title>{}</title><desc>{}</desc>'
    ).format(width, height, title, description)
    return head + Markup().join(body) + Markup("</svg>")


def patterns(id: str) -> Iterator[Markup]:
    shapes = "".join(
        f'<pattern id="{escape(id)}-{n}" width="{TILE}" height="{TILE}" patternUnits="userSpaceOnUse">{mark}</pattern>'
        for n, mark in MARKS.items()
    )
    yield Markup("<defs>{}</defs>").format(Markup(shapes))  # noqa: S704 - our own marks, and an id that is escaped


def hatch(id: str) -> Markup:
    return Markup(
        '<pattern id="{}-hatch" width="3" height="8" patternUnits="userSpaceOnUse"><rect class="hatch" width="1" height="8"/></pattern>'
    ).format(id)


def grid(top: float, said: Callable[[float], str]) -> Iterator[Markup]:
    for share in (0, 0.5, 1):
        y = height_of(share)
        kind = "grid" if share else "axis"
        yield Markup(
            '<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>'
        ).format(kind, LEFT, y, WIDTH - RIGHT, y, LEFT - 8, drawn(float(y) + 4), said(top * share))


def bars(
    columns: Sequence[Column], series: Sequence[str], top: float, id: str, said: Callable[[float], str]
) -> Iterator[Markup]:
    for n, column in enumerate(columns):
        below = 0.0
        x, width = place(n, len(columns))
        for part, name in enumerate(series, 1):
            if (amount := sane(column.parts.get(name, 0))) > 0:
                share, below = below / top, below + amount
                yield one_bar(x, width, share, amount / top, part, id, f"{column.name} · {name}: {said(amount)}")


def one_bar(x: float, width: float, below: float, share: float, part: int, id: str, title: str) -> Markup:
    tall = max(share * (HEIGHT - TOP - BOTTOM), SHORTEST)
    shape = Markup('x="{}" y="{}" width="{}" height="{}"').format(
        drawn(x), drawn(float(height_of(below)) - tall), drawn(width), drawn(tall)
    )
    over = Markup('<rect {} fill="url(#{}-{})"/>').format(shape, id, look(part)) if look(part) > 1 else ""
    return Markup('<g><title>{}</title><rect class="series-{}" {}/>{}</g>').format(title, look(part), shape, over)


def names(columns: Sequence[Column]) -> Iterator[Markup]:
    """The first, the last, and what is between them where there is room."""
    shown = {0, len(columns) - 1, *([len(columns) // 2] if len(columns) > 8 else [])}
    for n, column in enumerate(columns):
        if n in shown or len(columns) <= 4:
            x, width = place(n, len(columns))
            anchor = "start" if n == 0 and len(columns) > 4 else "end" if n == len(columns) - 1 > 3 else "middle"
            middle = {"start": x, "end": x + width, "middle": x + width / 2}[anchor]
            yield Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
                drawn(middle), HEIGHT - 10, anchor, column.name
            )


def limit_line(limit: float, top: float, said: Callable[[float], str]) -> Iterator[Markup]:
    y = height_of(limit / top)
    yield Markup('<line class="limit" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(LEFT, y, WIDTH - RIGHT, y)
    yield Markup('<text class="limit-name" x="{}" y="{}">budget {}</text>').format(
        LEFT + 4, drawn(max(float(y) - 6, 11)), said(limit)
    )


def described(columns: Sequence[Column], said: Callable[[float], str], limit: float | None) -> str:
    sums = [(column.name, sum(sane(part) for part in column.parts.values())) for column in columns]
    spoken = "; ".join(f"{name}: {said(amount)}" for name, amount in sums if amount > 0) or "nothing"
    return f"{spoken}. The budget is {said(limit)} a day." if limit is not None else f"{spoken}."


def place(n: int, count: int) -> tuple[float, float]:
    """Where a column begins and how wide it is; few of them do not become walls."""
    slot = (WIDTH - LEFT - RIGHT) / max(count, 1)
    width = min(slot * 0.72, 64)
    return LEFT + slot * n + (slot - width) / 2, width


def height_of(share: float) -> str:
    return drawn(HEIGHT - BOTTOM - min(share, 1) * (HEIGHT - TOP - BOTTOM))


def ceiling(amount: float) -> float:
    """The next round number."""
    if amount <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(amount))
    return next((step * power for step in ROUND if step * power >= amount), 10 * power)


def sane(amount: float) -> float:
    """What cannot be drawn is not."""
    value = float(amount)
    return min(value, LARGEST) if SMALLEST < value < math.inf else 0.0


def look(n: int) -> int:
    return max(1, min(n, SERIES))


def drawn(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
