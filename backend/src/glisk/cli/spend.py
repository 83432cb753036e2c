"""glisk spend: what was paid, by day, by model or by author."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from glisk import service, settings
from glisk.cli import output
from glisk.engine.link import Link
from glisk.repositories.spend_board import DAYS, SpendBoard


class By(StrEnum):
    DAY = "day"
    MODEL = "model"
    AUTHOR = "author"


def mount(root: typer.Typer) -> None:
    root.command()(spend)


def spend(
    by: Annotated[By, typer.Option(help="How it is added up.")] = By.DAY,
    days: Annotated[
        int, typer.Option(min=1, max=3660, help="Of so many days, today and those before it (UTC).")
    ] = DAYS,
    limit: output.Limit = 50,
    as_json: output.Json = False,
) -> None:
    """What was paid: dollars for pictures, wei for gas, and what of it was lost on calls that brought nothing."""

    async def listed(link: Link) -> list[dict[str, Any]]:
        board = SpendBoard(link)
        if by is By.AUTHOR:
            return await board.by_author(days, limit)
        return (await (board.by_day(days) if by is By.DAY else board.by_model(days)))[:limit]

    found = service.over_a_link(settings.load(), listed)
    rows = [{name: output.shown(value) if name == "day" else value for name, value in row.items()} for row in found]
    output.rows(rows, as_json=as_json, empty="Nothing was paid.")
