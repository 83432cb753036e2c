"""The page of the seeds leaves no requirement out, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "seeds.md"
REQUIREMENTS = {"R003": 52, "RC": 6, "R000": 36, "R001": 38, "R002": 41, "R004": 46}
PLACE = re.compile(r"`([^`:]*/[^`:]*)(?:::([^`]+))?`")  # a path has a slash; what follows :: stands in that file
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


class Row(NamedTuple):
    id: str
    asks_for: str
    where: str
    proof: str

    def __str__(self) -> str:
        return self.id


def rows() -> list[Row]:
    lines = [line for line in PAGE.read_text().splitlines() if re.match(r"\| (?!id )", line)]
    return [Row(*line.removeprefix("| ").removesuffix(" |").split(" | ")) for line in lines]


ROWS = rows()


def test_every_requirement_has_one_row_in_order() -> None:
    wanted = [f"{seed}-{n}" for seed, count in REQUIREMENTS.items() for n in range(1, count + 1)]
    assert [row.id for row in ROWS] == wanted


@pytest.mark.parametrize("row", [row for row in ROWS if PLACE.search(row.where)], ids=str)
def test_where_it_lives_is_there(row: Row) -> None:
    for path, symbol in PLACE.findall(row.where):
        assert (ROOT / path).exists(), path
        assert not symbol or re.search(rf"(?<!\w){re.escape(symbol)}(?!\w)", (ROOT / path).read_text()), symbol


@pytest.mark.parametrize("row", [row for row in ROWS if "`" in row.proof], ids=str)
def test_its_proof_is_a_test(row: Row) -> None:
    found = TEST.findall(row.proof)
    assert len(found) == row.proof.count("tests/") > 0
    for path, name in found:
        assert re.search(rf"^(async )?def {name}\(", (ROOT / "backend" / path).read_text(), re.MULTILINE), name


def test_a_row_without_a_place_or_a_test_says_so() -> None:
    assert not [row.id for row in ROWS if not PLACE.search(row.where) and not row.where.startswith("not yet")]
    assert not [row.id for row in ROWS if not TEST.search(row.proof) and row.proof != "not yet"]
    assert not [row.id for row in ROWS if row.where.startswith("not yet") and row.proof != "not yet"]
