"""Following one token as it goes: whatever is new in its story is told, until it has ended."""

from __future__ import annotations

import asyncio

import typer

from glisk.cli import telling
from glisk.engine.link import persistently
from glisk.repositories import timeline
from glisk.repositories.timeline import Entry
from glisk.repositories.token_board import AS_THEY_ARE, TokenBoard

EVERY_S = 0.3


async def until_ended(board: TokenBoard, id: int) -> str:
    """The status it ended in. Whatever happens meanwhile to the database, it goes on."""
    told = set[Entry]()
    while True:
        (seen,) = await persistently(lambda: board.seen(AS_THEY_ARE, [id]), "look at the token")
        story = await persistently(lambda: timeline.story(board.link, id), "read its story")
        for entry in [entry for entry in story.entries if entry not in told]:
            typer.echo(telling.line(entry))
            told.add(entry)
        if not seen.is_open:
            typer.echo(f"Token {seen.token_id} is {seen.status}.")
            return seen.status
        await asyncio.sleep(EVERY_S)
