"""What the studio hears in a prompt, and that everything it can do can be asked for."""

from __future__ import annotations

import pytest

from glisk.providers.studio import brief, colour, words
from glisk.providers.studio.palettes import PALETTES
from glisk.providers.studio.scenes import SCENES

SEEDS = range(12)


def families(prompt: str) -> set[str]:
    return {brief.read(prompt, brief.chance(prompt, seed)).family for seed in SEEDS}


def palettes(prompt: str) -> set[str]:
    return {brief.read(prompt, brief.chance(prompt, seed)).palette.name for seed in SEEDS}


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("Mountains at dawn", {"mountains"}),
        ("sailing boats on the OCEAN", {"sea"}),
        ("northern lights", {"aurora"}),
        ("an astronaut, a planet", {"planet"}),
        ("Tokyo by night", {"city"}),
        ("a deer in the forest", {"forest"}),
        ("a camel in the desert", {"dunes"}),
        ("portrait of a queen", {"mask"}),
        ("a flower", {"garden", "bloom"}),
        ("🪐", {"planet"}),
        ("гора", {"mountains"}),
    ],
)
def test_a_subject_chooses_the_family(prompt: str, wanted: set[str]) -> None:
    assert families(prompt) == wanted


def test_the_fallback_prompt_is_kittens_and_nobody_else_gets_them() -> None:
    assert families("Cute kittens playing with flowers") == {"kittens"}
    assert families("my cat by the sea in the mountains") == {"kittens"}
    assert "kittens" not in {brief.read("", brief.chance("", seed)).family for seed in range(200)}


def test_a_prompt_without_a_known_word_may_be_anything() -> None:
    assert {brief.read("xyzzy", brief.chance("xyzzy", seed)).family for seed in range(300)} == set(brief.ANYTHING)


@pytest.mark.parametrize(
    ("prompt", "tag"),
    [
        ("a red house", "red"),
        ("golden hour", "gold"),
        ("midnight", "night"),
        ("sunset", "sunset"),
        ("ocean blue", "blue"),
    ],
)
def test_a_colour_or_an_hour_chooses_the_palette(prompt: str, tag: str) -> None:
    assert palettes(prompt) <= {found.name for found in PALETTES if tag in found.tags}
    assert len(palettes(prompt)) > 1


def test_two_wishes_are_both_heard_where_one_palette_has_both() -> None:
    assert palettes("blue night") <= {"midnight", "regal", "abyss"}


def test_a_word_inside_another_is_not_heard() -> None:
    assert words.asked(words.heard("a hundred bored seafarers"), words.TINTS | words.SUBJECTS) == {}


def test_every_family_has_words_and_every_word_a_family() -> None:
    assert set(words.SUBJECTS) == set(SCENES)


def test_every_tag_of_a_palette_can_be_asked_for_and_every_tint_is_there() -> None:
    assert set().union(*(found.tags for found in PALETTES)) == set(words.TINTS)


@pytest.mark.parametrize("prompt", ["red", "green", "blue"])
def test_a_colour_that_was_asked_for_stays_that_colour(prompt: str) -> None:
    for seed in SEEDS:
        chosen = brief.read(prompt, brief.chance(prompt, seed)).palette
        (before,) = (found for found in PALETTES if found.name == chosen.name)
        assert all(colour.apart(one, other) < 0.08 for one, other in zip(chosen.sky, before.sky, strict=True))


def test_the_middle_of_blue_and_yellow_is_not_grey() -> None:
    middle = colour.mix((0.0, 0.0, 1.0), (1.0, 1.0, 0.0), 0.5)
    assert max(middle) - min(middle) > 0.15
    assert colour.mix((0.2, 0.4, 0.6), (1.0, 1.0, 1.0), 0) == pytest.approx((0.2, 0.4, 0.6), abs=1e-6)
