"""A drawing in its own measures, set down anywhere: turned, mirrored, large or small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.sheet import Ink

ROUND = np.linspace(0, 2 * pi, 40)


@dataclass(frozen=True, slots=True)
class Figure:
    ink: Ink
    x: float
    y: float
    size: float
    turn: float = 0.0
    side: int = 1  # -1: as in a mirror

    def leaning(self, x: float, y: float, turn: float) -> Figure:
        """A part with its own turn about its own place, such as a head."""
        (at_x, at_y), *_ = self.placed([(x, y)]).tolist()
        return Figure(self.ink, at_x, at_y, self.size, self.turn + turn * self.side, self.side)

    def polygon(self, points: Sequence[tuple[float, float]] | Plane, tone: Colour) -> None:
        self.ink.polygon(self.placed(points), tone)

    def oval(self, x: float, y: float, across: float, down: float, tone: Colour, lean: float = 0.0) -> None:
        right, under = np.cos(ROUND) * across, np.sin(ROUND) * down
        self.polygon(
            np.stack([x + right * cos(lean) - under * sin(lean), y + right * sin(lean) + under * cos(lean)], 1), tone
        )

    def line(self, points: Sequence[tuple[float, float]] | Plane, width: float, tone: Colour) -> None:
        self.ink.line(self.placed(points), width * self.size, tone)

    def curve(
        self, points: Sequence[tuple[float, float]], width: float, tone: Colour, end: float | None = None
    ) -> None:
        """A soft stroke through the points, round at both ends and thinner towards the last if `end` says so."""
        ways = np.array(points, dtype=np.float64)
        at = np.linspace(0, len(ways) - 1, 40)
        path = np.stack([smoothed(at, ways[:, axis]) for axis in (0, 1)], axis=1)
        half = np.linspace(width, width if end is None else end, 40) / 2
        ahead = np.gradient(path, axis=0)
        normal = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1) / np.hypot(*ahead.T)[:, None] * half[:, None]
        self.polygon(np.concatenate([path + normal, (path - normal)[::-1]]).astype(np.float32), tone)
        for place, radius in ((path[0], half[0]), (path[-1], half[-1])):
            self.oval(float(place[0]), float(place[1]), float(radius), float(radius), tone)

    def placed(self, points: Sequence[tuple[float, float]] | Plane) -> Plane:
        local = np.asarray(points, dtype=np.float32) * np.float32(self.size)
        right, down = local[:, 0] * self.side, local[:, 1]
        return np.stack(
            [
                self.x + right * cos(self.turn) - down * sin(self.turn),
                self.y + right * sin(self.turn) + down * cos(self.turn),
            ],
            1,
        ).astype(np.float32)


def smoothed(at: NDArray[np.float64], knots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Catmull and Rom's curve: through every knot, in no hurry."""
    padded = np.concatenate([[2 * knots[0] - knots[1]], knots, [2 * knots[-1] - knots[-2]]])
    left = np.minimum(at.astype(np.intp), len(knots) - 2)
    share = at - left
    before, start, end, after = (padded[left + n] for n in range(4))
    bend = (2 * before - 5 * start + 4 * end - after) * share + (3 * start - before - 3 * end + after) * share**2
    return np.asarray(start + 0.5 * share * (end - before + bend))
