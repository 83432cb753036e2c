"""What is to be painted: read from the prompt where it says so, from chance where it does not."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import words
from glisk.providers.studio.palette import Palette, varied
from glisk.providers.studio.palettes import PALETTES

Name = TypeVar("Name", str, int)
ANYTHING = [name for name in words.SUBJECTS if name != "kittens"]
TURN, TURN_IF_NAMED = 14.0, 5.0  # degrees; a colour that was asked for stays that colour


@dataclass(frozen=True, slots=True)
class Brief:
    family: str
    palette: Palette
    details: frozenset[str]


def read(prompt: str, rng: Generator) -> Brief:
    said = words.heard(prompt)
    tints = words.asked(said, words.TINTS)
    return Brief(family(said, rng), palette(tints, rng), frozenset(words.asked(said, words.DETAILS)))


def chance(prompt: str, seed: int) -> Generator:
    """The same prompt and seed, the same throws of the dice."""
    digest = hashlib.sha256(f"{seed}\n{prompt}".encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng(int.from_bytes(digest))


def family(said: frozenset[str], rng: Generator) -> str:
    """Who asks for a kitten gets a kitten; nobody else does."""
    wishes = words.asked(said, words.SUBJECTS) or dict.fromkeys(ANYTHING, 1)
    return "kittens" if "kittens" in wishes else best(wishes, rng)


def palette(tints: Mapping[str, int], rng: Generator) -> Palette:
    scores = {n: sum(tints.get(tag, 0) for tag in found.tags) for n, found in enumerate(PALETTES)}
    return varied(PALETTES[best(scores, rng)], rng, TURN_IF_NAMED if tints else TURN)


def best(scores: Mapping[Name, int], rng: Generator) -> Name:
    most = max(scores.values())
    leading = [name for name, score in scores.items() if score == most]
    return leading[int(rng.integers(len(leading)))]
