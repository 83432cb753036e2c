"""Tells the operator's own server of every change of a token: in order, at least once, each with an id by which doubles are known."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog

from glisk.engine.link import Link
from glisk.repositories.event_log import EventLog, News, Position
from glisk.repositories.outbox_board import OutboxBoard
from glisk.telling.posting import NotTaken, Receiver

log = structlog.get_logger()

NAME = "tokens"
AT_ONCE = 100  # events that are read together; each is told by itself
FIRST_REST, LONGEST_REST = timedelta(seconds=1), timedelta(minutes=10)
MOST_TRIES = 152  # with rests that grow to ten minutes: a day


@dataclass(slots=True)
class Outbox:
    """`shown_when`: the statuses from which on everybody may know what a token shows."""

    link: Link
    receiver: Receiver
    shown_when: frozenset[str]
    board: OutboxBoard = field(init=False)
    events: EventLog = field(init=False)

    def __post_init__(self) -> None:
        self.board, self.events = OutboxBoard(self.link), EventLog(self.link)

    async def run(self) -> None:
        """Tells all there is to tell now, unless somebody else is at it."""
        if not await self.board.take_turn(f"outbox {NAME}"):
            return
        try:
            while await self.told_some():
                pass
        finally:
            await self.board.end_turn(f"outbox {NAME}")

    async def told_some(self) -> bool:
        """Whether there may be more, and they are taken."""
        standing = await self.board.standing(NAME)
        if standing.is_beyond:
            log.warning("the log of events is another one: telling goes on from here", outbox=NAME)
            await self.board.restart(NAME)
            return True
        if not standing.is_due:
            return False
        page = await self.events.page(standing.position, AT_ONCE)
        return await self.tell(standing.position, standing.tries, page) and len(page) == AT_ONCE

    async def tell(self, at: Position, tries: int, page: list[News]) -> bool:
        """Whether all were taken. What is of no interest is passed over together with the next one that is."""
        for news in page:
            if not news.moves_a_token:
                continue
            try:
                await self.receiver.post(news.key, await self.message(news))
            except NotTaken as trouble:
                await self.put_off(at, news, tries, str(trouble))
                return False
            if not await self.board.move(NAME, at, news.position):
                return False  # somebody else has gone on from there
            at, tries = news.position, 0
        if page and at != page[-1].position:
            return await self.board.move(NAME, at, page[-1].position)
        return bool(page)

    async def put_off(self, at: Position, news: News, tries: int, why: str) -> None:
        """The others wait behind it, since they come in order. After a day in vain it is passed over."""
        if tries + 1 >= MOST_TRIES:
            log.error("a webhook was given up", id=news.key, tries=tries + 1, why=why)
            return await self.board.give_up(NAME, at, news, why, tries + 1)
        rest = rest_after(tries, random.random())  # noqa: S311 (jitter need not be secret)
        log.warning("a webhook was not taken, trying again", id=news.key, why=why, seconds=rest.total_seconds())
        return await self.board.fail(NAME, at, why, rest)

    async def message(self, news: News) -> dict[str, Any]:
        about = {
            "collection": f"{news.chain_id}:{news.contract_address}",
            "token_id": news.token_id,
            "status": news.to_status,
            "was": news.from_status,
            "actor": news.actor,
            "error": (news.data or {}).get("error"),
        }
        if news.to_status in self.shown_when and news.item_id is not None:
            found = await self.board.links(news.item_id)
            about |= {"metadata": as_uri(found.metadata_cid) or found.token_uri, "image": as_uri(found.image_cid)}
        return {"type": f"token.{news.to_status}", "timestamp": news.at, "data": about}


def as_uri(cid: str | None) -> str | None:
    return cid and f"ipfs://{cid}"


def rest_after(tries: int, jitter: float) -> timedelta:
    """Half of it at random, so that many who wait for one server do not come together. `jitter` is from 0 to 1."""
    whole: timedelta = min(FIRST_REST * 2 ** min(tries, 30), LONGEST_REST)
    return whole * (0.5 + jitter / 2)
