"""/spend: what pictures and gas cost, by day, model and author, against the day's budget; and what was paid for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from fastapi import APIRouter, Request, Response

from glisk.errors import BadQuery
from glisk.repositories.spend_board import GAS, SpendBoard, models_in, total_of
from glisk.web import charts, words
from glisk.web.apart import apart
from glisk.web.charts import SERIES, Column
from glisk.web.site import Site

PERIODS = (7, 30, 90)
OTHERS = "others"
WEI = Decimal(10) ** 18


def mount(routes: APIRouter, site: Site) -> None:
    async def show(request: Request, days: str = "30") -> Response:
        visitor = await site.door.operator(request)
        period = period_in(days)
        async with apart(site.link) as link:
            rows, today = (
                await SpendBoard(link).by_day(period),
                await SpendBoard(link).today(site.settings.daily_budget),
            )
        series = series_of(rows)
        return await site.page(
            *(request, "spend.html"),
            visitor=visitor,
            days=period,
            periods=PERIODS,
            today=today,
            total=total_of(rows),
            models=models_in(rows),
            series=series,
            dollars=dollars(rows, series, period, site.settings.daily_budget) if series else None,
            gas=gas(rows, period) if any(row["model"] == GAS for row in rows) else None,
            charts=charts,
        )

    async def authors(request: Request, days: str = "30") -> Response:
        """By itself: to know whose tokens they were takes longest."""
        visitor = await site.door.operator(request)
        period = period_in(days)
        async with apart(site.link) as link:
            rows = await SpendBoard(link).by_author(period)
        return await site.page(request, "spend_authors.html", visitor=visitor, days=period, authors=rows)

    routes.add_api_route("/spend", show, methods=["GET"])
    routes.add_api_route("/spend/authors", authors, methods=["GET"])


def period_in(text: str) -> int:
    if text not in {str(days) for days in PERIODS}:
        raise BadQuery(f"days: one of {', '.join(map(str, PERIODS))} is wanted.")
    return int(text)


def series_of(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The models that cost most, as many as look different; the rest of them is one."""
    sums: dict[str, Decimal] = {}
    for row in rows:
        if row["model"] != GAS and row["dollars"]:
            sums[row["model"]] = sums.get(row["model"], Decimal(0)) + row["dollars"]
    names = sorted(sums, key=lambda name: (-sums[name], name))
    return names if len(names) <= SERIES else [*names[: SERIES - 1], OTHERS]


def dollars(rows: Iterable[dict[str, Any]], series: Sequence[str], days: int, budget: Decimal | None) -> str:
    parts = empty_days(days)
    for row in rows:
        if row["dollars"] and row["day"] in parts:
            name = row["model"] if row["model"] in series else OTHERS
            parts[row["day"]][name] = parts[row["day"]].get(name, 0.0) + float(row["dollars"])
    limit = None if budget is None else float(budget)
    columns = [Column(named(day), found) for day, found in parts.items()]
    return charts.stacked(columns, series, id="dollars", title="Dollars by day", said=words.money, limit=limit)


def gas(rows: Iterable[dict[str, Any]], days: int) -> str:
    parts = empty_days(days)
    for row in rows:
        if row["model"] == GAS and row["day"] in parts:
            parts[row["day"]][GAS] = float(int(row["wei"]) / WEI)
    columns = [Column(named(day), found) for day, found in parts.items()]
    return charts.stacked(columns, [GAS], id="gas", title="Gas by day, in ETH", said=lambda eth: f"{eth:.3g}")


def empty_days(days: int) -> dict[date, dict[str, float]]:
    """The oldest first, today last."""
    today = datetime.now(UTC).date()
    return {today - timedelta(days=ago): {} for ago in range(days - 1, -1, -1)}


def named(day: date) -> str:
    return f"{day:%-d %b}"
