"""An installation with something on every page: tokens in all states, lanes, failures, jobs, money, a chain that was reorganised."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.errors import PinRefused, Refused
from glisk.repositories.key_repository import KeyRepository
from tests.builders import CHAIN, CONTRACT, OWNERS, PINNED, PROJECT, a_token_row

NOW = datetime.now(UTC)
HASH = bytes(range(32))
KEEPER = "0x" + "ab" * 20
REFUSED = "The prompt was refused: it is against the content policy of the model"
EVENT = """
    INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, at, claimed_at, data)
    VALUES ($1, $2, $3, $4, $5, 'host-7-12', $6, $7, $8::jsonb)"""
ATTEMPT = """
    INSERT INTO attempts (item_id, step, epoch, provider, model, outcome, error, cost, worker, started_at, finished_at, details)
    VALUES ($1, $2, 1, $3, $4, $5, $6, $7, 'host-7-12', $8, $8, $9::jsonb)"""
JOB = f"""
    INSERT INTO jobs (workflow, status, finished_at, error_message, user_id, project_id, payload)
    VALUES ('image_edit', $1, CASE WHEN $1 = 'failed' THEN now() END, $2, 'anna', '{PROJECT}', '{{"prompt": "more light"}}') RETURNING id"""
CURSOR = """
    INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash, safe_no, head_no, head_at, alarm)
    VALUES ($1, $2, 1, 1288, $3, 1240, $3, 1256, 1290, now(), $4)"""


async def furnish(connection: Any, link: Link) -> None:
    await connection.execute(OWNERS)
    await many_tokens(connection)
    await failed_tokens(connection)
    await some_jobs(connection)
    await a_chain(connection)
    await spent(connection)
    await some_lanes(link)
    await KeyRepository(link).make("anna's laptop", "operator", "anna")
    await connection.execute(
        "INSERT INTO alerts (cause, kind, message, fix) VALUES ('lane replicate', 'lane', 'The lane replicate is held.', 'Pay the bill, then: glisk lanes resume replicate')"
    )


async def many_tokens(connection: Any) -> None:
    for n in range(1, 25):
        id = await a_token_row(connection, n, **standing(n))
        await way(connection, id, n)


def standing(n: int) -> dict[str, Any]:
    minted = {"detected_at": NOW - timedelta(minutes=60 - n)}
    leased = {"leased_by": f"host-7-{12 + n % 2}", "leased_until": NOW + timedelta(seconds=50), "started_at": NOW}
    if n > 21:
        return minted
    if n > 18:
        return minted | leased | {"status": "generating"}
    if n > 16:
        return minted | PINNED | {"status": "ready"}
    facts = {"token_uri": "ipfs://bafymetadata", "finished_at": NOW}
    return minted | PINNED | facts | {"status": "revealed"}


async def way(connection: Any, id: int, n: int) -> None:
    """What happened to a token that was revealed."""
    at = NOW - timedelta(minutes=60 - n)
    await connection.execute(EVENT, id, "token", None, "detected", 0, at, None, None)
    for was, status, waits, works in (
        ("generating", "uploading", 2.0, 4.0 + n / 5),
        ("pinning", "ready", 0.3, 0.8),
        ("revealing", "revealed", 1.5, 3.0 + n / 9),
    ):
        began = at + timedelta(seconds=waits)
        at = began + timedelta(seconds=works)
        if n <= 16 or (n <= 18 and status != "revealed"):
            await connection.execute(EVENT, id, "token", was, status, 2, at, began, None)


async def failed_tokens(connection: Any) -> None:
    for n in range(31, 38):
        error = f"{REFUSED}. The fallback prompt was refused too."
        id = await failed(connection, n, "generating", error)
        told = json.dumps({"code": Refused.code})
        await connection.execute(
            ATTEMPT, id, "generating", "replicate", "flux-schnell", "refused", REFUSED, Decimal(0), NOW, told
        )
    await failed(connection, 41, "pinning", str(PinRefused("The file is larger than the plan allows.")), **PINNED)


async def failed(connection: Any, n: int, step: str, error: str, **columns: Any) -> int:
    at = NOW - timedelta(minutes=n)
    id = await a_token_row(connection, n, status="failed", generation_error=error, finished_at=at, **columns)
    told = json.dumps({"error": error})
    await connection.execute(EVENT, id, "token", step, "failed", 2, at, at - timedelta(seconds=3), told)
    return id


async def some_jobs(connection: Any) -> None:
    for _ in range(3):
        await connection.fetchval(JOB, "pending", None)
    id = await connection.fetchval(JOB, "failed", "unexpected KeyError: 'image'")
    told = json.dumps({"error": "unexpected KeyError: 'image'"})
    await connection.execute(EVENT, id, "image_edit", "processing", "failed", 2, NOW, NOW - timedelta(seconds=1), told)


async def a_chain(connection: Any) -> None:
    await connection.execute(CURSOR, CHAIN, CONTRACT, HASH, None)
    told = {"chain_id": CHAIN, "contract": CONTRACT, "ancestor": 1270, "depth": 3, "tip": 1273, "orphaned": 2}
    await connection.execute(
        "INSERT INTO events (to_status, actor, data) VALUES ('reorg', 'listener', $1::jsonb)", json.dumps(told)
    )
    await connection.execute(
        "INSERT INTO chain_sender (chain_id, address, next_nonce, balance_wei, fee_wei, gas_per_token) VALUES ($1, $2, 41, $3, $4, 95000)",
        *(CHAIN, KEEPER, Decimal(4 * 10**15), Decimal(10**9)),
    )
    await connection.execute(
        "INSERT INTO chain_nonce (chain_id, sender, nonce, content, recipient, data, tokens) VALUES ($1, $2, 40, $3, $4, $3, 6)",
        *(CHAIN, KEEPER, HASH, CONTRACT),
    )


async def spent(connection: Any) -> None:
    models = (("flux-schnell", "0.31"), ("flux-pro", "0.84"), ("sdxl", "0.2"))
    for ago in range(20):
        at = NOW - timedelta(days=ago)
        for m, (model, cost) in enumerate(models):
            if (ago + m) % 4:
                amount = Decimal(cost) * (1 + (ago * (m + 3)) % 5)
                terms = (ago + 1, "generating", "replicate", model, "done", None, amount, at, None)
                await connection.execute(ATTEMPT, *terms)
        told = json.dumps({"wei": str(10**14 * (3 + ago % 4))})
        await connection.execute(ATTEMPT, ago + 1, "revealing", "chain", None, "done", None, None, at, told)
    said = "It came out black"
    await connection.execute(
        ATTEMPT, 1, "generating", "replicate", "flux-pro", "failed", said, Decimal("0.04"), NOW, None
    )


async def some_lanes(link: Link) -> None:
    await lanes.make(link, "replicate", 4, 2.5)
    await lanes.make(link, "ipfs", 8)
    await lanes.make(link, "chain", 1000)
    steps = {("token", "generating"): "replicate", ("token", "pinning"): "ipfs", ("token", "revealing"): "chain"}
    await lanes.place(link, dict(steps))
    await lanes.hold(link, "ipfs", "The node is being moved to another disk", actor="anna")
