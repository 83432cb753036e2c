"""What was paid, to whom and for whose pictures: by day, by model, by author; what of it was for nothing; and today against the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from glisk.repositories.board import Board

GAS = "gas"
DAYS = 30
# Days are those of UTC, as a budget's are. Each part goes along an index of just its rows, and is added up before they come together:
# what was paid, the pictures that cost nothing, and gas.
BY_DAY = """
    WITH since AS MATERIALIZED (
      SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(days => $1 - 1) AS began),
    each AS (
      SELECT (started_at AT TIME ZONE 'UTC')::date AS day, COALESCE(model, provider) AS model, count(*) AS calls,
        count(*) FILTER (WHERE outcome = 'done') AS done, 0 AS free, sum(cost) AS dollars,
        COALESCE(sum(cost) FILTER (WHERE outcome <> 'done'), 0) AS lost, 0 AS wei
      FROM attempts WHERE cost > 0 AND outcome <> 'open' AND started_at >= (SELECT began FROM since)
      GROUP BY 1, 2
      UNION ALL
      SELECT (started_at AT TIME ZONE 'UTC')::date, COALESCE(model, provider), count(*), count(*), count(*), 0, 0, 0
      FROM attempts WHERE step = 'generating' AND outcome = 'done' AND COALESCE(cost, 0) = 0 AND started_at >= (SELECT began FROM since)
      GROUP BY 1, 2
      UNION ALL
      SELECT (started_at AT TIME ZONE 'UTC')::date, 'gas', count(*), count(*) FILTER (WHERE outcome = 'done'), 0, 0, 0, sum(wei)
      FROM attempts WHERE wei > 0 AND started_at >= (SELECT began FROM since)
      GROUP BY 1)
    SELECT day, model, sum(calls)::bigint AS calls, sum(done)::bigint AS done, sum(free)::bigint AS free, sum(dollars) AS dollars,
      sum(lost) AS lost, sum(wei)::text AS wei
    FROM each GROUP BY day, model ORDER BY day DESC, dollars DESC, model"""
# What jobs cost is no author's.
BY_AUTHOR = """
    WITH each AS (
      SELECT author_id, count(*) AS calls, count(*) FILTER (WHERE outcome = 'done' AND cost > 0) AS done, sum(cost) AS dollars,
        sum(cost) FILTER (WHERE outcome <> 'done') AS lost, NULL::numeric AS wei
      FROM attempts a JOIN tokens_s0 t ON t.id = a.item_id WHERE cost > 0 AND outcome <> 'open'
        AND a.started_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(days => $1 - 1)
      GROUP BY author_id
      UNION ALL
      SELECT author_id, count(*), 0, NULL, NULL, sum(wei)
      FROM attempts a JOIN tokens_s0 t ON t.id = a.item_id WHERE wei > 0
        AND a.started_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(days => $1 - 1)
      GROUP BY author_id)
    SELECT wallet_address AS author, sum(calls)::bigint AS calls, sum(done)::bigint AS done, COALESCE(sum(dollars), 0) AS dollars,
      COALESCE(sum(lost), 0) AS lost, COALESCE(sum(wei), 0)::text AS wei
    FROM each JOIN authors USING (author_id) GROUP BY author_id, wallet_address
    ORDER BY dollars DESC, sum(wei) DESC NULLS LAST, author LIMIT $2"""
TODAY = """
    WITH today AS (SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS began)
    SELECT COALESCE(sum(cost) FILTER (WHERE outcome <> 'open'), 0) AS spent, COALESCE(sum(cost) FILTER (WHERE outcome = 'open'), 0) AS ordered
    FROM today LEFT JOIN attempts ON cost > 0 AND started_at >= began"""


class Today(Struct, frozen=True):
    """`ordered`: what calls under way will probably cost. `budget`: None is no limit."""

    spent: Decimal
    ordered: Decimal
    budget: Decimal | None

    @property
    def left(self) -> Decimal | None:
        return None if self.budget is None else max(self.budget - self.spent - self.ordered, Decimal(0))


class Total(Struct, frozen=True):
    """`pictures`: those that were drawn, and `free` of them cost nothing. `lost`: what was paid for calls that brought nothing."""

    calls: int = 0
    pictures: int = 0
    free: int = 0
    dollars: Decimal = Decimal(0)
    lost: Decimal = Decimal(0)
    wei: int = 0

    @property
    def average(self) -> Decimal | None:
        """Dollars for one that was paid, with what was paid for nothing on the way to it. None: all were free, or there are none."""
        paid = self.pictures - self.free
        return self.dollars / paid if paid else None


class SpendBoard(Board):
    """Each list has `calls`, `done`, `dollars`, `lost` and `wei` (text: it is too big for some readers); what is still under way is
    not in it. Days and models have `free` too: how many of the pictures cost nothing."""

    async def by_day(self, days: int = DAYS) -> list[dict[str, Any]]:
        """A row for each day and model, the newest first; `gas` is one of the models, and costs only wei."""
        return await self.listed(BY_DAY, days)

    async def by_model(self, days: int = DAYS) -> list[dict[str, Any]]:
        return models_in(await self.by_day(days))

    async def by_author(self, days: int = DAYS, limit: int = 50) -> list[dict[str, Any]]:
        """Those whose tokens cost most."""
        return await self.listed(BY_AUTHOR, days, limit)

    async def total(self, days: int = DAYS) -> Total:
        return total_of(await self.by_day(days))

    async def today(self, budget: Decimal | None) -> Today:
        (row,) = await self.listed(TODAY)
        return Today(row["spent"], row["ordered"], budget)


def models_in(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The days of each model added up; the one that cost most first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["model"], []).append(row)
    models = [{"model": model, **added_up(days)} for model, days in found.items()]
    return sorted(models, key=lambda row: (-row["dollars"], row["model"]))


def total_of(rows: Sequence[dict[str, Any]]) -> Total:
    added = added_up(rows)
    pictures = sum(row["done"] for row in rows if row["model"] != GAS)
    return Total(added["calls"], pictures, added["free"], added["dollars"], added["lost"], int(added["wei"]))


def added_up(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    sums: dict[str, Any] = {
        name: sum(row[name] for row in rows) for name in ("calls", "done", "free", "dollars", "lost")
    }
    return sums | {"wei": str(sum(int(row["wei"]) for row in rows))}
