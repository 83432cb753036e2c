"""Charts: whatever the numbers are, the picture is whole, can be read aloud, and hides nothing."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from glisk.web import charts
from glisk.web.charts import HEIGHT, RULER, TOP, WIDTH, Column, Mark

SVG = "{http://www.w3.org/2000/svg}"
amounts = st.floats(allow_nan=True, allow_infinity=True) | st.floats(0, 1e9)
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
columns = st.lists(st.builds(Column, texts, st.dictionaries(st.sampled_from("abcdefg"), amounts)), max_size=40)


def read(markup: Markup) -> ElementTree.Element:
    text = str(markup)
    assert not re.search(r"nan|inf", re.sub(r"<(title|desc)>[^<]*</\1>|>[^<]*<", "><", text))
    assert "style=" not in text
    return ElementTree.fromstring(text)


def rects(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [each for each in root.iter(f"{SVG}rect") if "y" in each.attrib]


def a_chart(days: list[Column], limit: float | None = None) -> ElementTree.Element:
    return read(
        charts.stacked(days, [*"abcdefg"], id="spend", title="Spend", said=lambda value: f"${value:g}", limit=limit)
    )


@given(columns, st.none() | amounts)
def test_a_chart_is_whole_whatever_the_numbers(days: list[Column], limit: float | None) -> None:
    root = a_chart(days, limit)
    assert (root.get("role"), root[0].tag, root[1].tag) == ("img", f"{SVG}title", f"{SVG}desc")
    for rect in rects(root):
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + width <= WIDTH
        assert TOP - 2 - 40 <= y <= y + height <= HEIGHT  # slivers are drawn a little taller than they are


@given(columns)
def test_every_amount_that_is_something_has_a_bar_with_its_name(days: list[Column]) -> None:
    found = list(a_chart(days).iter(f"{SVG}g"))
    wanted = sum(charts.sane(part) > 0 for day in days for part in day.parts.values())
    assert len(found) == wanted
    assert all(group[0].tag == f"{SVG}title" for group in found)


def test_series_differ_by_more_than_their_colour() -> None:
    root = a_chart([Column("Monday", {"a": 1, "b": 1, "c": 1})])
    assert [rect.get("class") or rect.get("fill") for rect in rects(root)] == [
        *("series-1", "series-2", "url(#spend-2)", "series-3", "url(#spend-3)")
    ]
    ids = {pattern.get("id") for pattern in root.iter(f"{SVG}pattern")}
    assert ids == {f"spend-{n}" for n in range(2, 6)}


def test_what_is_read_aloud_has_the_sums_and_the_budget() -> None:
    root = a_chart([Column("Monday", {"a": 1, "b": 2}), Column("Tuesday", {})], limit=5)
    assert root[1].text == "Monday: $3. The budget is $5 a day."
    assert a_chart([])[1].text == "nothing."


def test_a_budget_beyond_all_columns_is_still_on_the_chart() -> None:
    (line,) = [each for each in a_chart([Column("Monday", {"a": 1})], 100).iter() if each.get("class") == "limit"]
    assert float(line.attrib["y1"]) == TOP


def test_text_from_elsewhere_cannot_break_out() -> None:
    root = a_chart([Column("<script>", {"a": 1})])
    assert "<script>" in [each.text for each in root.iter(f"{SVG}text")]


@given(st.lists(st.builds(Mark, texts, st.integers(-1, 2**63)), max_size=6))
def test_a_ruler_is_whole_whatever_the_numbers(marks: list[Mark]) -> None:
    root = read(charts.ruler(marks, title="Blocks"))
    assert all(12 <= float(circle.attrib["cx"]) <= RULER - 12 for circle in root.iter(f"{SVG}circle"))
    assert len([*root.iter(f"{SVG}circle")]) == len(marks)


@given(amounts, st.integers(-3, 9))
def test_a_bar_stays_within_its_ground(share: float, series: int) -> None:
    ground, filled = read(charts.bar(share, series=series)).iter("rect")
    assert 0 <= float(filled.attrib["width"]) <= float(ground.attrib["width"])


@given(st.none() | amounts, st.none() | amounts, amounts)
def test_wait_and_work_stay_within_their_ground(wait: float | None, work: float | None, longest: float) -> None:
    *_, worked = read(charts.wait_and_work(wait, work, longest, id="a")).iter("rect")
    assert 0 <= float(worked.attrib["x"]) + float(worked.attrib["width"]) <= 100.01


@given(st.floats(0, 1e30))
def test_the_top_of_a_scale_is_round_and_not_far_above(amount: float) -> None:
    top = charts.ceiling(charts.sane(amount))
    assert top >= charts.sane(amount)
    assert math.isfinite(top)
    assert charts.sane(amount) == 0 or top <= 2.6 * amount


def test_a_swatch_looks_as_its_bars_do() -> None:
    assert "url(#spend-3)" in charts.swatch(3, id="spend")
    assert "url(" not in charts.swatch(1, id="spend")
    read(charts.swatch(9, id="spend"))
