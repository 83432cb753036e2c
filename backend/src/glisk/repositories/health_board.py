"""How it goes, in numbers for machines: what Prometheus scrapes, and what would keep a server from serving."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from msgspec import Struct

from glisk.engine import ledger
from glisk.repositories.job_board import OPEN
from glisk.repositories.means import with_means
from glisk.repositories.pipeline_board import COUNTS, STEPS, PipelineBoard
from glisk.repositories.summary_board import PACE

REVISION = "SELECT version_num FROM alembic_version"
LISTENERS = """
    SELECT chain_id::text AS chain, contract_address AS contract, GREATEST(head_no - tip_no, 0) AS blocks,
      GREATEST(extract(epoch FROM now() - updated_at), 0)::float8 AS seconds, halted IS NOT NULL AS is_halted
    FROM chain_cursor ORDER BY chain_id, contract_address"""
# Along the index of items: events of no item are few.
REORGS = """
    SELECT data ->> 'chain_id' AS chain, data ->> 'contract' AS contract, count(*) AS many
    FROM events WHERE item_id IS NULL AND to_status = 'reorg' GROUP BY 1, 2"""
KEEPERS = with_means("""
    SELECT chain_id::text AS chain, address AS keeper,
      REVEALS_LEFT::float8 AS reveals_left
    FROM chain_sender""")
AGE = "SELECT extract(epoch FROM now() - min(at))::float8 AS seconds FROM unnest($1::timestamptz[]) AS x(at)"
ALERTS = "SELECT kind, count(*) AS many FROM alerts WHERE cleared_at IS NULL GROUP BY kind"


class Listener(Struct, frozen=True):
    """How far behind its chain a contract is read, in blocks and since somebody last looked."""

    chain: str
    contract: str
    blocks: int
    seconds: float
    is_halted: bool


class Keeper(Struct, frozen=True):
    chain: str
    keeper: str
    reveals_left: float | None


class Numbers(Struct, frozen=True):
    tokens: dict[str, int]
    jobs: dict[tuple[str, str], int]
    lanes: list[dict[str, Any]]
    listeners: list[Listener]
    keepers: list[Keeper]
    reorgs: dict[tuple[str, str], int]
    alerts: dict[str, int]
    oldest_s: float | None  # since the mint of the oldest token that is on its way
    spent: Decimal
    ordered: Decimal
    p50: float | None  # from mint to reveal, of the newest revealed
    p95: float | None


class HealthBoard(PipelineBoard):
    async def revision(self) -> str | None:
        rows = await self.link.fetch(REVISION)
        return rows[0]["version_num"] if rows else None

    async def listeners(self) -> list[Listener]:
        return [Listener(**row) for row in await self.listed(LISTENERS)]

    async def numbers(self) -> Numbers:
        spent, ordered, _ = await ledger.spent_today(self.link.fetch)
        (pace,) = await self.listed(PACE)
        return Numbers(
            {row["status"]: row["tokens"] for row in await self.listed(COUNTS)},
            {(row["workflow"], row["status"]): row["jobs"] for row in await self.listed(OPEN)},
            await self.lanes(),
            await self.listeners(),
            [Keeper(**row) for row in await self.listed(KEEPERS)],
            {(row["chain"], row["contract"]): row["many"] for row in await self.listed(REORGS)},
            {row["kind"]: row["many"] for row in await self.listed(ALERTS)},
            await self.oldest_s(),
            *(spent, ordered, pace["p50"], pace["p95"]),
        )

    async def oldest_s(self) -> float | None:
        """What failed or waits for a person is not on its way."""
        oldest = await self.oldest([*STEPS, *STEPS.values()])
        (age,) = await self.listed(AGE, [token.detected_at for token in oldest.values()])
        seconds: float | None = age["seconds"]
        return seconds
