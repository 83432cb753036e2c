"""What is in a picture, in the words of danbooru: snake_case, each with how sure we are. No model: what can be measured, and what was asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from glisk.images.container import container
from glisk.images.gate import decoded
from glisk.images.look import Look, look

MOST = 30
HIGHRES, LOWRES = 1600, 500  # pixels a side, as danbooru has it
TALL = 1.6
LEAST_SHARE = 0.08  # of a picture, for a colour to be named
THEME = 0.5  # and for the whole to be called by it
NAMED, GUESSED = 0.9, 0.5
# word of a prompt: the tag that people look for
KNOWN = {
    **dict.fromkeys(("girl", "woman", "lady", "queen", "princess"), "1girl"),
    **dict.fromkeys(("boy", "man", "king", "prince", "guy"), "1boy"),
    **dict.fromkeys(("sea", "ocean"), "ocean"),
    **dict.fromkeys(("landscape", "scenery", "panorama", "vista"), "scenery"),
    **dict.fromkeys(("city", "skyline", "metropolis", "cityscape"), "cityscape"),
    **dict.fromkeys(("sunset", "sundown"), "sunset"),
    **dict.fromkeys(("sunrise", "dawn", "daybreak"), "sunrise"),
    **dict.fromkeys(("kitten", "kitty", "cat"), "cat"),
    **dict.fromkeys(("puppy", "dog"), "dog"),
    **dict.fromkeys(("woods", "forest"), "forest"),
    **dict.fromkeys(("blossom", "flower", "rose", "tulip"), "flower"),
    **dict.fromkeys(("moonlight", "moon"), "moon"),
    **dict.fromkeys(("starry", "star"), "star_(sky)"),
}
PEOPLE = frozenset(
    """
    girl woman lady queen princess boy man king prince guy person people human child children face portrait crowd
    hero warrior samurai astronaut dancer family couple
    """.split()
)
THINGS = frozenset(
    """
    ocean scenery cityscape cat dog forest flower moon mountain lake river desert bird horse tree planet galaxy
    """.split()
)
UNSAID = frozenset(
    """
    a an and are as at by for from has have in into is it its like no not of off on onto or out over the their there
    this that these those to under very was were with without
    """.split()
)


class Tag(Struct, frozen=True):
    name: str
    score: float


def tags_of(data: bytes, prompt: str = "") -> list[Tag]:
    """The surest first. Raises ValueError for what cannot be decoded."""
    format = container(data)
    image = decoded(format, format.parts(data))
    found = [*of_size(*image.size), *of_look(look(image)), *of_prompt(prompt)]
    best = {tag.name: tag for tag in sorted(found, key=lambda tag: tag.score)}
    return sorted(best.values(), key=lambda tag: (-tag.score, tag.name))[:MOST]


def of_size(width: int, height: int) -> Iterator[Tag]:
    if max(width, height) >= HIGHRES:
        yield Tag("highres", 1.0)
    if max(width, height) <= LOWRES:
        yield Tag("lowres", 1.0)
    if height >= TALL * width:
        yield Tag("tall_image", 1.0)
    if width >= TALL * height:
        yield Tag("wide_image", 1.0)


def of_look(seen: Look) -> Iterator[Tag]:
    shares = sorted(colours(seen).items(), key=lambda each: (-each[1], each[0]))
    for name, share in shares:
        if share >= LEAST_SHARE:
            yield Tag(name, round(min(1.0, 0.4 + share), 2))
    first, share = shares[0]
    if share >= THEME:
        yield Tag(f"{first}_theme", round(share, 2))
    light = float(seen.lightness.mean()) / 255
    if light < 0.25:
        yield Tag("dark", round(1 - light, 2))
    if light > 0.75:
        yield Tag("bright", round(light, 2))
    if sum(share for name, share in shares if name in ("black", "white", "grey")) > 0.98:
        yield Tag("monochrome", 0.95)


def colours(seen: Look) -> dict[str, float]:
    """Which part of the picture has which colour."""
    tones = (seen.tones.reshape(-1, 3) / 255).astype(np.float32)
    high, low = tones.max(axis=1), tones.min(axis=1)
    names = np.where(high - low < 0.1, greys(high), hues(tones, high, low))
    found, counts = np.unique(names, return_counts=True)
    return {str(name): float(count) / len(names) for name, count in zip(found, counts, strict=True)}


def greys(high: NDArray[np.float32]) -> NDArray[np.str_]:
    return np.select([high < 0.2, high > 0.85], ["black", "white"], "grey")


def hues(tones: NDArray[np.float32], high: NDArray[np.float32], low: NDArray[np.float32]) -> NDArray[np.str_]:
    """By the angle on the wheel; what is dark and warm is brown."""
    red, green, blue = tones.T
    spread = np.maximum(high - low, 1e-6)
    angle = np.select(
        [high == red, high == green],
        [(green - blue) / spread % 6, (blue - red) / spread + 2],
        (red - green) / spread + 4,
    )
    edges = [0.3, 0.75, 1.2, 2.6, 3.3, 4.3, 5.1, 5.7]
    names = np.array(["red", "orange", "yellow", "green", "aqua", "blue", "purple", "pink", "red"])
    found = names[np.searchsorted(edges, angle)]
    is_brown = np.isin(found, ["red", "orange", "yellow"]) & (high < 0.55)
    return np.where(high < 0.2, "black", np.where(is_brown, "brown", found))


def of_prompt(prompt: str) -> Iterator[Tag]:
    words = [word for word in words_of(prompt) if len(word) > 2 and word not in UNSAID]
    names = {word: KNOWN.get(word) or KNOWN.get(word.removesuffix("s")) for word in words}
    for word, known in names.items():
        yield Tag(known, NAMED) if known else Tag(word, GUESSED)
    if is_of_things(words, set(filter(None, names.values()))):
        yield Tag("no_humans", 0.6)


def words_of(prompt: str) -> list[str]:
    """Letters that only look otherwise (a script A) are the plain ones; lower, as casefold makes some of Cherokee large."""
    return re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", prompt).lower())


def is_of_things(words: list[str], known: set[str]) -> bool:
    """Something was asked for that is nobody, and nobody was."""
    singular = {word.removesuffix("s") for word in words} | set(words)
    return bool((known | singular) & THINGS) and not singular & PEOPLE
