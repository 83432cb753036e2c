"""The embedded painter: what it promises to whoever orders."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from decimal import Decimal
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from glisk.errors import BadOrder
from glisk.providers.port import Order, Painter, Receipt
from glisk.providers.studio import Studio, painter

ORDER = Order("a lighthouse at night", seed=7, width=128, height=96)


async def forget(value: str) -> None:
    raise AssertionError("the studio gives no receipts")


RECEIPT = Receipt(keep=forget)


@pytest.fixture
async def studio() -> AsyncIterator[Studio]:
    studio = Studio(at_once=2)
    yield studio
    await studio.close()


async def test_it_is_a_painter_who_costs_nothing(studio: Painter) -> None:
    picture = await studio.draw(ORDER, RECEIPT)
    assert (studio.name, studio.model) == ("studio", "studio-1")
    assert (picture.url, picture.cost) == (None, Decimal(0))
    assert await studio.abandon(ORDER, RECEIPT) == Decimal(0)


async def test_the_same_order_is_the_same_picture_byte_for_byte(studio: Studio) -> None:
    pictures = await asyncio.gather(*(studio.draw(ORDER, RECEIPT) for _ in range(4)))
    assert {picture.data for picture in pictures} == {painter.painted(ORDER)}


@pytest.mark.parametrize(
    "other",
    [
        Order("a lighthouse at night", seed=8, width=128, height=96),
        Order("a lighthouse at night!", seed=7, width=128, height=96),
        Order("a lighthouse at night", seed=7, width=96, height=128),
    ],
)
def test_another_order_is_another_picture(other: Order) -> None:
    assert painter.painted(other) != painter.painted(ORDER)


@pytest.mark.parametrize("size", [(64, 64), (64, 200), (300, 64), (101, 97)])
def test_it_is_a_png_of_the_size_that_was_asked_for(size: tuple[int, int]) -> None:
    image = Image.open(BytesIO(painter.painted(Order("x", 1, *size))))
    assert (image.format, image.mode, image.size) == ("PNG", "RGB", size)


@pytest.mark.parametrize(
    "prompt",
    ["", " ", "\x00", "孤独な時間", "просто так", "🪐🐱", "\ud800", "a" * 20_000, "<lora:x:1>", "%s {} \\", "٣ מילה"],
)
def test_any_prompt_in_any_language_is_painted(prompt: str) -> None:
    pixels = np.asarray(Image.open(BytesIO(painter.painted(Order(prompt, 3, 64, 64)))))
    assert pixels.std() > 12


@pytest.mark.parametrize("seed", [-1, 0, 2**63, 10**30])
def test_any_number_is_a_seed(seed: int) -> None:
    assert painter.painted(Order("x", seed, 64, 64))


@pytest.mark.parametrize("size", [(0, 64), (64, -1), (63, 64), (64, 2049)])
async def test_a_size_it_has_no_paper_for_is_a_bad_order(studio: Studio, size: tuple[int, int]) -> None:
    with pytest.raises(BadOrder, match=f"64 to 2048 pixels a side, not {size[0]}×{size[1]}"):
        await studio.draw(Order("x", 1, *size), RECEIPT)


class Easel:
    """Paints only when it is let, and counts who stands at it."""

    def __init__(self) -> None:
        self.arrived, self.may_paint = threading.Semaphore(0), threading.Event()
        self.seen: list[int] = []

    def painted(self, order: Order) -> bytes:
        self.seen.append(order.seed)
        self.arrived.release()
        assert self.may_paint.wait(20)
        return b"picture"


@pytest.fixture
def easel(monkeypatch: pytest.MonkeyPatch) -> Easel:
    easel = Easel()
    monkeypatch.setattr(painter, "painted", easel.painted)
    return easel


async def test_the_loop_goes_on_while_it_paints_and_only_so_many_paint_at_once(studio: Studio, easel: Easel) -> None:
    drawing = [asyncio.create_task(studio.draw(Order("x", seed), RECEIPT)) for seed in range(5)]
    for _ in range(2):
        assert await asyncio.to_thread(easel.arrived.acquire, timeout=20)
    assert sorted(easel.seen) == [0, 1]
    easel.may_paint.set()
    assert {(await picture).data for picture in drawing} == {b"picture"}
    assert sorted(easel.seen) == [0, 1, 2, 3, 4]


async def test_who_gives_up_waiting_is_not_painted_for(easel: Easel) -> None:
    studio = Studio(at_once=1)
    first = asyncio.create_task(studio.draw(Order("x", 1), RECEIPT))
    assert await asyncio.to_thread(easel.arrived.acquire, timeout=20)
    second = asyncio.create_task(studio.draw(Order("x", 2), RECEIPT))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    easel.may_paint.set()
    await first
    await studio.close()
    assert easel.seen == [1]
