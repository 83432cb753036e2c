"""The painter who is always there: no model, no network, no bill. The same order is the same picture, byte for byte."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

from glisk.errors import BadOrder
from glisk.providers.port import Order, Picture, Receipt
from glisk.providers.studio import brief, press
from glisk.providers.studio.scenes import SCENES
from glisk.providers.studio.sheet import Sheet

SIDES = range(64, 2049)
FREE = Decimal(0)


class Studio:
    name = "studio"
    model = "studio-1"
    takes_lora = False

    def __init__(self, at_once: int = 2) -> None:
        """A pool of its own: whoever gives up waiting does not make room for one more at the easel."""
        self.pool = ThreadPoolExecutor(at_once, thread_name_prefix="studio")

    async def draw(self, order: Order, receipt: Receipt) -> Picture:
        if order.width not in SIDES or order.height not in SIDES:
            raise BadOrder(
                f"The studio paints {SIDES[0]} to {SIDES[-1]} pixels a side, not {order.width}×{order.height}."
            )
        return Picture(await asyncio.get_running_loop().run_in_executor(self.pool, painted, order), cost=FREE)

    async def abandon(self, order: Order, receipt: Receipt) -> Decimal | None:
        """It ends by itself sooner than anybody could stop it."""
        return FREE

    async def close(self) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)


def painted(order: Order) -> bytes:
    """One stream of chance decides everything, so nothing but the order does."""
    rng, sheet = brief.chance(order.prompt, order.seed), Sheet(order.width, order.height)
    wanted = brief.read(order.prompt, rng)
    SCENES[wanted.family](sheet, wanted, rng)
    return press.printed(sheet, rng)
