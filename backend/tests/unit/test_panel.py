"""What the terminal says while everything runs."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO

from hypothesis import given
from hypothesis import strategies as some
from msgspec import structs
from rich.console import Console

from glisk.cli import panel
from glisk.repositories.summary_board import Reading, Summary, Taken
from glisk.workflows import TOKEN

READ = Reading(31337, 128, 126, 2, 0.4, False, 1)
NOW = Summary(
    {"detected": 2, "generating": 1, "ready": 2, "revealed": 17, "failed": 1, "orphaned": 3},
    [READ],
    [Taken("studio", 2, None, 1), Taken("chain", 1000, "GLK-513 The keeper is poor.", 0)],
    Decimal("0.054"),
    8.1,
    13.0,
)


def test_a_panel_tells_of_the_chain_the_tokens_the_lanes_and_the_day() -> None:
    assert panel.panel(NOW) == [
        "Chain   31337   head 128   taken 126   lag 2 blocks / 0.4 s   reorgs 1 (healed)",
        "Tokens  minted 23 ▸ drawing 3 ▸ pinning 0 ▸ revealing 2 ▸ revealed 17   failed 1   orphaned 3",
        "Lanes   studio 1/2   chain 0/1000 HELD",
        "Held    chain: GLK-513 The keeper is poor.",
        "Today   $0.0540   mint→reveal p50 8.1 s  p95 13.0 s",
    ]


def test_elsewhere_one_line_tells_it_with_what_is_held() -> None:
    assert panel.line(NOW).endswith("lane chain is held: GLK-513 The keeper is poor.")
    assert "\n" not in panel.line(NOW)


def test_a_panel_is_as_high_as_it_has_lines_however_long_they_are() -> None:
    reason = "GLK-513 The keeper is poor.\n" * 50
    lines = panel.panel(structs.replace(NOW, lanes=[Taken("chain", 9, reason, 0), Taken("studio", 2, None, 1)]))
    console = Console(width=60, file=StringIO())
    shown = [line.rstrip() for line in "".join(part.text for part in console.render(panel.drawn(lines))).splitlines()]
    assert len(shown) == len(lines) == 5
    assert shown[2:4] == [
        "Lanes   chain 0/9 HELD   studio 1/2",
        f"Held    chain: {' '.join(reason.split())}"[:59] + "…",
    ]


def test_before_anything_was_read_it_says_so() -> None:
    assert panel.panel(Summary({}, [], [], Decimal(0), None, None)) == [
        "Chain   not read yet",
        "Tokens  minted 0 ▸ drawing 0 ▸ pinning 0 ▸ revealing 0 ▸ revealed 0",
        "Lanes   none yet",
        "Today   $0.0000",
    ]


@given(some.dictionaries(some.sampled_from(sorted(TOKEN.statuses())), some.integers(0, 10**6)))
def test_every_token_is_told_of_once(tokens: dict[str, int]) -> None:
    told = panel.tokens(Summary(tokens, [], [], Decimal(0), None, None))
    numbers = [int(word) for word in told.replace("▸", " ").split() if word.isdecimal()]
    assert sum(numbers[1:]) == sum(tokens.values())
    assert numbers[0] == sum(tokens.values()) - tokens.get("orphaned", 0)
