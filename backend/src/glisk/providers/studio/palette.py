"""Palettes chosen by eye. Chance turns them a little; it never makes one up."""

from __future__ import annotations

from dataclasses import dataclass, replace

from numpy.random import Generator

from glisk.providers.studio import colour
from glisk.providers.studio.colour import Colour


@dataclass(frozen=True, slots=True)
class Palette:
    """`sky` from the zenith to the horizon, land far and near, a light, bright colours, paper, and the darkest ink."""

    name: str
    tags: frozenset[str]
    sky: tuple[Colour, ...]
    far: Colour
    near: Colour
    glow: Colour
    accents: tuple[Colour, ...]
    paper: Colour
    ink: Colour

    @property
    def is_dark(self) -> bool:
        return colour.lightness(self.sky[1]) < 0.5

    @property
    def key(self) -> Colour:
        """The colour one would name it by, at its clearest."""
        tone = self.sky[2] if self.is_dark else self.sky[1]
        return colour.at_lightness(colour.turned(tone, 0, richer=1.35), 0.62)

    def accent(self, rng: Generator, among: int = 5) -> Colour:
        return self.accents[int(rng.integers(among))]

    def some(self, rng: Generator, count: int, among: int = 5) -> list[Colour]:
        """So many of its bright colours, no two the same."""
        return [self.accents[int(n)] for n in rng.permutation(among)[:count]]


def palette(name: str, tags: str, sky: str, land: str, glow: str, accents: str, paper_ink: str) -> Palette:
    (far, near), (light,), (paper, ink) = colour.of(land), colour.of(glow), colour.of(paper_ink)
    return Palette(name, frozenset(tags.split()), colour.of(sky), far, near, light, colour.of(accents), paper, ink)


def varied(chosen: Palette, rng: Generator, reach: float) -> Palette:
    """Turned round the wheel by up to `reach` degrees, and a little richer or paler: kin, not a twin."""
    degrees, richer = rng.uniform(-reach, reach), rng.uniform(0.92, 1.12)

    def turn(one: Colour) -> Colour:
        return colour.turned(one, degrees, richer=richer)

    return replace(
        chosen,
        sky=tuple(map(turn, chosen.sky)),
        far=turn(chosen.far),
        near=turn(chosen.near),
        glow=turn(chosen.glow),
        accents=tuple(map(turn, chosen.accents)),
        paper=turn(chosen.paper),
        ink=turn(chosen.ink),
    )
