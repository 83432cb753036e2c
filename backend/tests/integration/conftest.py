"""A link to the database, a place where tokens are drawn, and stand-ins for those who pin."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from glisk.dev.standins import pin_control, replicate_control
from glisk.dev.standins.pin_control import PinControl
from glisk.dev.standins.replicate_control import ReplicateControl
from glisk.engine.link import Link
from tests.chains import chain
from tests.drawing import Atelier
from tests.jobbing import Shop

__all__ = ["chain"]


@pytest.fixture
async def link(database_url: str) -> AsyncIterator[Link]:
    link = Link(database_url)
    yield link
    await link.close()


@pytest.fixture
def standin() -> Iterator[ReplicateControl]:
    with replicate_control.in_thread() as control:
        yield control


@pytest.fixture
def atelier(database_url: str, connection: Any, standin: ReplicateControl, tmp_path: Path) -> Atelier:
    return Atelier(database_url, connection, standin, tmp_path / "data")


@pytest.fixture
def shop(database_url: str, connection: Any, tmp_path: Path) -> Shop:
    return Shop(database_url, connection, tmp_path / "data")


@pytest.fixture
def pinata_service() -> Iterator[PinControl]:
    with pin_control.pinata() as control:
        yield control


@pytest.fixture
def kubo_service() -> Iterator[PinControl]:
    with pin_control.kubo() as control:
        yield control
