"""Tokens as a gallery shows them: cards, the newest first, and how it goes in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from glisk.engine.link import Link
from glisk.repositories.board import Board
from glisk.repositories.public_board import public_statuses
from glisk.workflows import TOKEN

ORPHANED = "orphaned"
TODAY = "today"  # shown since midnight, UTC
PAGE = 60
NEWEST = 2**63 - 1  # above every id
MOST_COUNTED = 5000  # beyond that it is "5000+": a number on a page is not worth reading a million rows
UNDER_WAY = sorted({*TOKEN.steps, *(TOKEN.active(waiting) for waiting in TOKEN.steps)})
# What people may ask for, and the statuses that this means.
FILTERS = {"under-way": UNDER_WAY, TODAY: []} | {status: [status] for status in sorted(TOKEN.statuses())}
CARD = """
    SELECT t.id, t.chain_id AS chain, t.contract_address AS contract, t.token_id::text, t.status, t.detected_at,
      CASE WHEN t.status = ANY ($1) THEN t.image_key END AS image, a.wallet_address AS author"""
# Each status along its index, whichever of them are rare.
EACH_STATUS = """
    FROM unnest($2::text[]) AS s(status), LATERAL (
      SELECT * FROM tokens_s0 WHERE status = s.status AND id < $3 ORDER BY id DESC LIMIT $4) AS t
    JOIN authors a ON a.author_id = t.author_id ORDER BY t.id DESC LIMIT $4"""
OF_STATUS = CARD + EACH_STATUS
OF_ANY = f"""{CARD}
    FROM tokens_s0 t JOIN authors a ON a.author_id = t.author_id
    WHERE t.status <> '{ORPHANED}' AND t.id < $2 ORDER BY t.id DESC LIMIT $3"""
OF_AUTHOR = f"""{CARD}
    FROM tokens_s0 t JOIN authors a ON a.author_id = t.author_id
    WHERE a.wallet_address = $2 AND ($3::text[] IS NULL AND t.status <> '{ORPHANED}' OR t.status = ANY ($3)) AND t.id < $4
    ORDER BY t.id DESC LIMIT $5"""
NAMED = (
    f"{CARD} FROM tokens_s0 t JOIN authors a ON a.author_id = t.author_id WHERE t.id = ANY ($2::bigint[]) ORDER BY t.id"
)
LATEST = """
    FROM (SELECT * FROM tokens_s0 WHERE status = $2 AND id < $3 ORDER BY id DESC LIMIT $5) AS t
    JOIN authors a ON a.author_id = t.author_id
    WHERE COALESCE(t.finished_at, t.updated_at) >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
      AND ($6::text IS NULL OR a.wallet_address = $6) ORDER BY t.id DESC LIMIT $4"""
OF_TODAY = CARD + LATEST
# Those revealed today are nearly the newest of all that are.
NUMBERS = """
    WITH today AS (SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS began)
    SELECT
      (SELECT count(*) FROM (
         SELECT FROM tokens_s0 WHERE workflow = 'token' AND status = ANY ($1) AND finished_at IS NULL AND leased_by IS NULL
         UNION ALL SELECT FROM tokens_s0 WHERE workflow = 'token' AND status = ANY ($1) AND leased_by IS NOT NULL
         LIMIT $3) AS few) AS under_way,
      (SELECT count(*) FROM (SELECT COALESCE(finished_at, updated_at) AS at FROM tokens_s0 WHERE status = $2
                             ORDER BY id DESC LIMIT $3) AS newest, today WHERE at >= began) AS shown_today,
      (SELECT COALESCE(sum(cost), 0) FROM attempts, today WHERE cost > 0 AND started_at >= began) AS spent_today,
      (SELECT max(GREATEST(head_no - tip_no, 0)) FROM chain_cursor) AS lag,
      (SELECT max(extract(epoch FROM now() - updated_at))::float8 FROM chain_cursor) AS read_s_ago"""


class Card(Struct, frozen=True):
    """`image`: only once everybody may see it, so that one card is right for everybody."""

    id: int
    chain: int
    contract: str
    token_id: str
    status: str
    detected_at: datetime
    image: str | None
    author: str


class Numbers(Struct, frozen=True):
    """`lag`: blocks that are not read yet, where a chain is followed."""

    under_way: int
    shown_today: int
    spent_today: Decimal
    lag: int | None
    read_s_ago: float | None


class GalleryBoard(Board):
    """`reveals`: tokens are revealed on the chain, and shown after that; else as soon as they are pinned."""

    def __init__(self, link: Link, *, reveals: bool) -> None:
        super().__init__(link)
        self.shown = public_statuses(reveals=reveals)
        self.under_way = [status for status in UNDER_WAY if status not in self.shown]

    async def cards(
        self, filter: str | None = None, author: str | None = None, before: int = NEWEST, limit: int = PAGE
    ) -> list[Card]:
        if filter == TODAY:
            return await self.read(OF_TODAY, self.shown[-1], before, limit, MOST_COUNTED, author)
        statuses = self.statuses(filter) if filter else None
        if author:
            return await self.read(OF_AUTHOR, author, statuses, before, limit)
        if statuses:
            return await self.read(OF_STATUS, statuses, before, limit)
        return await self.read(OF_ANY, before, limit)

    def statuses(self, filter: str) -> list[str]:
        """Of tokens that may come to what is asked for."""
        return self.shown[-1:] if filter == TODAY else FILTERS[filter]

    async def named(self, ids: Sequence[int]) -> list[Card]:
        """The oldest first: so the newest is the last to be put on a wall, and stands first."""
        return await self.read(NAMED, list(ids))

    async def numbers(self) -> Numbers:
        (row,) = await self.listed(NUMBERS, self.under_way, self.shown[-1], MOST_COUNTED)
        return Numbers(**row)

    async def read(self, sql: str, *terms: object) -> list[Card]:
        return [Card(**row) for row in await self.listed(sql, self.shown, *terms)]
