"""How it goes, in a few numbers."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.repositories.summary_board import SummaryBoard
from tests.builders import IMAGE, MANY_TOKENS

REVEALED = f"""
    UPDATE tokens_s0 SET status = 'revealed', detected_at = now() - interval '8 seconds', finished_at = now(),
      image_url = '{IMAGE}', image_key = 'k', image_cid = 'c', metadata_cid = 'm', token_uri = 'u' WHERE token_id <= 2"""
PAID = """
    INSERT INTO attempts (item_id, step, epoch, provider, outcome, cost, worker, finished_at)
    SELECT id, 'generating', 1, 'replicate', 'done', 0.003, 'w', now() FROM tokens_s0 ORDER BY id LIMIT 2"""


async def test_with_nothing_there_it_says_so(link: Link) -> None:
    now = await SummaryBoard(link).now()
    assert (now.many("revealed"), now.chains, now.lanes, now.spent, now.p50) == (0, [], [], Decimal(0), None)


async def test_it_counts_what_is_on_its_way_what_was_paid_and_how_long_it_took(link: Link, connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 5, ["detected"], 0)
    await connection.execute(REVEALED)
    await connection.execute(PAID)
    await lanes.make(link, "replicate", 4)
    await lanes.hold(link, "replicate", "401")
    now = await SummaryBoard(link).now()
    assert {status: many for status, many in now.tokens.items() if many} == {"detected": 3, "revealed": 2}
    assert (now.spent, round(now.p50 or 0), round(now.p95 or 0)) == (Decimal("0.006"), 8, 8)
    assert [(one.name, one.most, one.taken, one.held) for one in now.lanes] == [("replicate", 4, 0, "401")]


async def test_a_hold_that_is_over_is_none(link: Link) -> None:
    await lanes.make(link, "replicate", 4)
    await lanes.hold(link, "replicate", "429", timedelta(0))
    assert [one.held for one in (await SummaryBoard(link).now()).lanes] == [None]
