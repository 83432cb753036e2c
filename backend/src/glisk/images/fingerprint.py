"""By what a picture is known again when it was compressed, resized, relit, nudged or stamped, and told from one that is only
as plain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from glisk.images.look import Grid, Look, flattened, look, soft

# Near duplicates are within this distance in `coarse`: a database finds them all by bit_count((a # b)::bit(64)) <= 12. Of
# some 20,000 copies in 22 kinds, the furthest was at 8.
COARSE_DISTANCE = 12
SIDE = 16
AT_ONCE = 1000  # compared together: some megabytes
FINE, ROWS, COLUMNS = soft(SIDE), soft(5), soft(6)
MOST_DETAIL = 128  # beyond, a cell is simply busy: how busy depends on who compressed it
DETAIL_WEIGHT = 0.5
# How far two copies may be apart, in mean squares a cell: so much for what codecs do to an empty canvas, and this share of
# what the picture itself varies by. Copies stay below three quarters of that, other pictures above twice of it.
SLACK, SHARE = 3.0, 0.06
CAST = 24  # of 255, between the mean colours: relit by a tenth, and a little for what is cut off at white


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`coarse`, 60 bits, for a database to look for candidates; `fine`, 1024 bytes, to compare them."""

    coarse: int
    fine: bytes


def fingerprint(image: Image.Image) -> Fingerprint:
    return of(look(flattened(image)))


def of(seen: Look) -> Fingerprint:
    return Fingerprint(coarse(seen.lightness), fine(seen))


def is_near(one: Fingerprint, other: Fingerprint) -> bool:
    return first_near(one, [other]) is not None


def first_near(one: Fingerprint, others: Sequence[Fingerprint]) -> int | None:
    """Its place. All at once: where every author asks for the same, thousands are roughly alike."""
    for start in range(0, len(others), AT_ONCE):
        if len(found := np.flatnonzero(are_near(one, others[start : start + AT_ONCE]))):
            return start + int(found[0])
    return None


def are_near(one: Fingerprint, others: Sequence[Fingerprint]) -> NDArray[np.bool_]:
    (colour, pattern), (colours, patterns) = unpacked(one.fine), unpacked(b"".join(other.fine for other in others))
    contrast = np.minimum(energy(pattern), energy(patterns))
    is_alike = np.array([(one.coarse ^ other.coarse).bit_count() <= COARSE_DISTANCE for other in others])
    is_alike &= np.abs(colours - colour).max(axis=1) <= CAST
    return np.asarray(is_alike & (energy(patterns - pattern) <= SLACK + SHARE * contrast))


def coarse(lightness: Grid) -> int:
    """Two bits for each of 5 × 6 cells: lighter than most, or darker. An empty canvas is its own median and has no bits;
    measured against the mean, all of it would flip with the size of what stands on it."""
    cells = ROWS @ lightness @ COLUMNS.T
    margin = max(3.0, 0.4 * float(cells.std()))
    above = cells - np.median(cells)
    return int.from_bytes(np.packbits([above > margin, above < -margin]).tobytes(), "big") >> 4


def fine(seen: Look) -> bytes:
    """Four channels of 16 × 16 cells: red, green, blue, detail."""
    detail = np.minimum(spread(seen.highs) + spread(-seen.lows), MOST_DETAIL)
    channels = np.concatenate([seen.tones, detail[..., None]], axis=2)
    cells = np.tensordot(FINE, np.tensordot(FINE, channels, (1, 1)), (1, 1))
    return bytes(np.rint(cells).astype(np.uint8).tobytes())


def spread(highs: Grid) -> Grid:
    """Each cell has the highest of its neighbourhood: a star that moves on to the next cell still counts in both."""
    padded = np.pad(highs, 1, "edge")
    rows = np.maximum(np.maximum(padded[:-2], padded[1:-1]), padded[2:])
    return np.maximum(np.maximum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


def unpacked(fines: bytes) -> tuple[Grid, Grid]:
    """Of each that is joined in there: the mean colour, and what differs from it where."""
    cells = np.frombuffer(fines, np.uint8).reshape(-1, SIDE * SIDE, 4).astype(np.float32)
    means = cells.mean(axis=1)
    return means[:, :3], (cells - means[:, None]) * np.array([1, 1, 1, DETAIL_WEIGHT], np.float32)


def energy(patterns: Grid) -> Grid:
    return np.asarray(np.square(patterns).sum(axis=(1, 2)) / (SIDE * SIDE), np.float32)
