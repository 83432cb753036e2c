"""What can be wrong with a picture that could be decoded. A canvas may be as empty as it likes: it takes only one star, one
line or a breath of fog to be a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from glisk.images.look import Grid, Look

Consequence: TypeAlias = Literal["regenerate", "quarantine"]
# The lightest pixel, of 255: below the first no screen shows anything, below the second nobody would see it.
BLACK, DARK = 12, 28
SAME = 4  # levels that a codec makes of one colour
# A codec's idea of a flat surface with a little noise: no part is lighter or of another colour than the rest by more than
# EVEN, and no pixel stands out by more than FAINT. Fog has 20 levels between its parts, a star has 100 above its sky.
EVEN, FAINT, GRAINY = 4, 32, 80
GRAIN = 6  # levels within most cells: what there is is everywhere, so it is no line and no star
# Noise: neighbours differ, nearly everywhere; they do not follow from each other; and from afar it is no more uneven than
# chance makes it. Stars fail the first, hatching and patterns the second, film grain over a picture and dither the last.
ROUGH = 0.5
ALIKE, UNEVEN = 0.2, 3.0
RATHER_ALIKE, RATHER_UNEVEN = 0.6, 8.0  # noise that was scaled or smoothed, or a very fine sand: a person should see
SMALL = 256  # pixels a side: below, the blocks are too small to tell chance from a picture
LONGEST = 17  # pixels: a weave or a dither has come round by then
ROWS = 32  # of pixels: enough for two decimals


@dataclass(frozen=True, slots=True)
class Flaw:
    """What to do about it, and why."""

    consequence: Consequence
    reason: str


def flaw(seen: Look) -> Flaw | None:
    return next((found for check in CHECKS if (found := check(seen))), None)


def darkness(seen: Look) -> Flaw | None:
    """Providers' safety filters paint a picture over in black and say that it succeeded."""
    lightest = int(seen.highs.max())
    if lightest <= BLACK:
        return Flaw("regenerate", "The picture is black.")
    if lightest <= DARK:
        return Flaw("quarantine", f"The picture is nearly black: its lightest pixel has {lightest} of 255.")
    return None


def blankness(seen: Look) -> Flaw | None:
    pixels, tones = span(seen), unevenness(seen.tones)
    if pixels <= SAME and tones <= SAME:
        colour = "#" + bytes(seen.tones[0, 0].astype(np.uint8)).hex()
        return Flaw("regenerate", f"The picture is blank: all of it is {colour}.")
    is_grainy = pixels <= GRAINY and np.median(seen.highs - seen.lows) >= GRAIN
    if unevenness(blocks(seen.tones)) <= EVEN and (pixels <= FAINT or is_grainy):
        return Flaw("quarantine", "The picture is nearly blank: one colour and a little noise.")
    return None


def noise(seen: Look) -> Flaw | None:
    if min(seen.grey.shape) < SMALL or roughness(seen) < ROUGH:
        return None
    alike, uneven = likeness(seen), chance(seen)
    if alike < ALIKE and uneven < UNEVEN:
        return Flaw("regenerate", "The picture is noise: no pixel has to do with the next.")
    is_like_noise = alike < RATHER_ALIKE and uneven < RATHER_UNEVEN
    return Flaw("quarantine", "The picture looks like noise.") if is_like_noise else None


CHECKS: tuple[Callable[[Look], Flaw | None], ...] = (darkness, blankness, noise)


def span(seen: Look) -> int:
    return int(seen.highs.max() - seen.lows.min())


def unevenness(tones: Grid) -> float:
    """Between the lightest and the darkest cell, in the channel where they differ most."""
    return float(np.ptp(tones, axis=(0, 1)).max())


def blocks(cells: Grid) -> Grid:
    """16 × 16 of them: so large that no noise is left in their means."""
    return np.asarray(cells.reshape(16, 4, 16, 4, -1).mean(axis=(1, 3)), np.float32)


def roughness(seen: Look) -> float:
    """How much neighbours differ, beside how much all pixels do: 1.1 for noise, 0.4 if one pixel in twenty is a star."""
    rows = sample(seen, 0)
    return float(np.abs(np.diff(rows)).mean() / max(rows.std(), 1.0))


def likeness(seen: Look) -> float:
    """How far a pixel follows from the one above, or from one of those before it: 0 for noise, 1 or -1 for a pattern."""
    rows, below = sample(seen, 0), sample(seen, 1)
    mean, variance = rows.mean(), rows.var()
    rows, below = rows - mean, below - mean
    follows = [np.mean(rows[:, lag:] * rows[:, :-lag]) for lag in range(1, LONGEST)]
    return float(np.abs([np.mean(rows * below), *follows]).max() / variance)


def chance(seen: Look) -> float:
    """How much more uneven the blocks are than those of noise as strong would be: 1 for noise. A pattern is more even than
    chance allows: then it is as good as uneven."""
    expected = sample(seen, 0).var() / (seen.grey.size / 256)
    ratio = float(blocks(seen.lightness).var() / expected)
    return max(ratio, 1 / max(ratio, 1e-6))


def sample(seen: Look, offset: int) -> Grid:
    """Some of the rows, or those below them."""
    rows = np.linspace(0, len(seen.grey) - 2, ROWS).astype(int)
    return np.asarray(seen.grey[rows + offset], np.float32)
