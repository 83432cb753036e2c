"""Tokens that are minted, drawn and pinned by real workers, with the listener's statement and the engine's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from glisk.engine.lanes import Lane
from glisk.engine.link import Link
from glisk.engine.worker import Station, Worker
from glisk.processors.generating import Generating
from glisk.processors.pinning import Pinning
from glisk.settings import Settings
from glisk.workers.staffing import make_lanes
from glisk.workflows import JOBS, TOKENS
from tests.builders import CHAIN, CONTRACT
from tests.drawing import HASTY, STEADY
from tests.engines import running

# As the listener does it: the token, and the event that tells of it.
MINTED = f"""
    WITH author AS (INSERT INTO authors (wallet_address, prompt_text) VALUES ($2, $3)
                    ON CONFLICT (wallet_address) DO UPDATE SET prompt_text = EXCLUDED.prompt_text RETURNING author_id),
    born AS (INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, prompt)
             SELECT {CHAIN}, '{CONTRACT}', $1::text::numeric, author_id, $3 FROM author RETURNING id, status, epoch)
    INSERT INTO events (item_id, workflow, to_status, epoch, actor)
    SELECT id, 'token', status, epoch, 'listener' FROM born RETURNING item_id"""


async def minted(connection: Any, token_id: int, prompt: str = "A lighthouse on a cliff", author: int = 0xA1) -> int:
    return int(await connection.fetchval(MINTED, str(token_id), f"0x{author:040x}", prompt))


@asynccontextmanager
async def at_work(url: str, settings: Settings) -> AsyncIterator[None]:
    """Somebody draws, and somebody pins."""
    draws, pins = Generating(settings), Pinning(settings)
    staff = [
        Station(HASTY, "detected", draws, Lane(draws.painter.name, (TOKENS, JOBS))),
        Station(HASTY, "uploading", pins, Lane(pins.lane or "", (TOKENS, JOBS)) if pins.lane else None),
    ]
    link = Link(url)
    await make_lanes(link, staff)
    worker = Worker(url, staff, "w", STEADY)
    try:
        async with running(worker):
            yield
    finally:
        await draws.close()
        await pins.close()
        await link.close()
