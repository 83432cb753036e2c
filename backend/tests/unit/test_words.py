"""How numbers and times are written."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.web import words

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("dollars", "said"),
    [(None, "–"), (0, "$0"), (Decimal("0.0031"), "$0.0031"), (Decimal("0.00001"), "<$0.0001"), (1234.5, "$1,234.50")],
)
def test_money_is_written_as_fine_as_it_matters(dollars: Decimal | None, said: str) -> None:
    assert words.money(dollars) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "40 ms"), (0.4, "0.4 s"), (12.2, "12 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (273_600, "3 d 4 h")],
)
def test_durations_have_two_units_at_most(seconds: float, said: str) -> None:
    assert words.duration(seconds) == said


@given(st.floats(0, 1e9, allow_nan=False))
def test_every_duration_can_be_said(seconds: float) -> None:
    assert re.fullmatch(r"\d+(\.\d)? (ms|s|min|h|d)( \d+ (s|min|h))?", words.duration(seconds))


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "now"), (5, "5 s ago"), (90, "1 min ago"), (90_000, "25 h ago"), (-30, "in 30 s")]
)
def test_times_are_told_roughly_and_exactly_on_hover(seconds: int, said: str) -> None:
    written = words.ago(NOW - timedelta(seconds=seconds), NOW)
    assert f">{said}</time>" in written
    assert "UTC" in written


def test_long_names_are_told_apart_by_their_ends() -> None:
    assert words.short("0x" + "ab" * 20) == "0xabab…abab"
    assert words.short("short") == "short"
    assert words.short(None) == "–"


@pytest.mark.parametrize(("count", "said"), [(999, "999 B"), (1500, "1.5 kB"), (2_000_000, "2.0 MB")])
def test_sizes(count: int, said: str) -> None:
    assert words.size(count) == said


def test_gas_is_told_in_ether() -> None:
    assert words.ether(155 * 10**12) == "0.000155 ETH"
    assert words.ether(1) == "<0.000001 ETH"


def test_hashes_in_a_text_are_short_and_nothing_in_it_is_markup() -> None:
    written = words.brief(f"<b> tx 0x{'ab' * 32} · log 3")
    assert written == f'&lt;b&gt; tx <code title="0x{"ab" * 32}">0xabab…abab</code> · log 3'
    assert words.brief("plain") == "plain"
