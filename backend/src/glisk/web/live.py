"""GET /live: what changes on a page, as it happens. Whoever looks at the same sees the same, so each change is read and written once.

One task follows the events while anybody looks, and hands out pieces of HTML. Who is too slow is let go, and comes back with
the key of the last piece they had (Last-Event-ID, or `after`). A storm of events is not followed card by card: those who look
are told that they have missed something, and look anew when it is over.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from glisk.api.events import REVOKED
from glisk.api.stream import AT_ONCE, News, TooFarBehind, cursor_in
from glisk.engine.link import LinkLost
from glisk.errors import BadQuery, GliskError
from glisk.repositories.event_log import Position
from glisk.repositories.gallery_board import GalleryBoard
from glisk.web import gallery
from glisk.web.site import Site
from glisk.workflows import TOKEN

log = structlog.get_logger()
Subject: TypeAlias = Literal["wall", "token", "news"]

CARDS_A_SECOND = 30
WAITING = 32  # pieces for one who looks
KEPT = 128  # pieces for those who come back
ALIVE_EVERY_S = 15.0
REST_S = 2.0  # after the database was lost
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}


@dataclass(frozen=True, slots=True)
class Piece:
    """What one batch of events means to those who look at the wall, and which tokens it is about. `figures` are the operator's."""

    position: Position
    cards: bytes
    numbers: bytes
    figures: bytes
    ids: frozenset[int]

    def to(self, viewer: Viewer) -> bytes:
        if viewer.subject == "wall":
            said = self.cards + (self.figures if viewer.is_operator else self.numbers)
        elif viewer.subject == "token" and viewer.id not in self.ids:
            return b""
        else:
            said = message("news", "")
        return said and said + f"id: {self.position}\n\n".encode()


@dataclass(eq=False, slots=True)
class Viewer:
    subject: Subject
    id: int
    is_operator: bool
    waiting: asyncio.Queue[bytes | None] = field(default_factory=lambda: asyncio.Queue(WAITING + 1))
    is_over: bool = False

    def give(self, said: bytes) -> None:
        if self.waiting.qsize() >= WAITING:
            self.end()
        elif said and not self.is_over:
            self.waiting.put_nowait(said)

    def end(self) -> None:
        if not self.is_over:
            self.is_over = True
            self.waiting.put_nowait(None)

    async def pieces(self) -> AsyncIterator[bytes]:
        """With a sign of life in between: else nobody would notice that the other side is gone."""
        while True:
            try:
                async with asyncio.timeout(ALIVE_EVERY_S):
                    said = await self.waiting.get()
            except TimeoutError:
                said = b": \n\n"
            if said is None:
                return
            yield said


class Live:
    def __init__(self, site: Site) -> None:
        self.site, self.board = site, GalleryBoard(site.link, reveals=site.settings.reveals)
        self.viewers: set[Viewer] = set()
        self.kept: deque[Piece] = deque(maxlen=KEPT)
        self.floor = self.latest = Position(0, 0)  # what came after `floor` is kept; `latest` has been told
        self.task: asyncio.Task[None] | None = None
        self.cards_left, self.refilled_at = CARDS_A_SECOND, 0.0

    async def watched(self, viewer: Viewer, after: Position) -> AsyncIterator[bytes]:
        self.join(viewer, after)
        try:
            yield b"retry: 2000\n\n"
            async for said in viewer.pieces():
                yield said
        finally:
            self.leave(viewer)

    def join(self, viewer: Viewer, after: Position) -> None:
        self.viewers.add(viewer)
        if self.task is None or self.task.done():
            self.kept.clear()
            self.floor = self.latest = after
            self.task = asyncio.create_task(self.follow(), name="live pages")
        elif after < self.floor:
            viewer.give(message("behind", ""))
        for piece in self.kept:
            if piece.position > after:
                viewer.give(piece.to(viewer))

    def leave(self, viewer: Viewer) -> None:
        self.viewers.discard(viewer)
        if not self.viewers and self.task:
            self.task.cancel()
            self.task = None

    async def follow(self) -> None:
        """While anybody looks. What it cannot be told now it is told when the database is back."""
        try:
            while not self.site.stream.is_stopped:
                try:
                    await self.tell_all()
                except TooFarBehind:
                    self.start_anew(await self.site.stream.now())
                except (LinkLost, GliskError) as error:
                    log.warning("live pages wait for the database", error=str(error))
                    await asyncio.sleep(REST_S)
        finally:
            if (
                self.task is asyncio.current_task()
            ):  # else nobody looked any more, and by now another task may serve others
                for viewer in self.viewers:
                    viewer.end()

    async def tell_all(self) -> None:
        async with self.site.stream.subscribe(str(self.latest)) as batches:
            async for batch in batches:
                self.tell(await self.written(batch))
                if any(news.to_status == REVOKED for news in batch):
                    self.ask_again()

    def tell(self, piece: Piece) -> None:
        if len(self.kept) == KEPT:
            self.floor = self.kept[0].position
        self.kept.append(piece)
        self.latest = piece.position
        for viewer in self.viewers:
            viewer.give(piece.to(viewer))

    def ask_again(self) -> None:
        """Who comes back is asked for the key anew."""
        for viewer in self.viewers:
            if viewer.is_operator:
                viewer.end()

    def start_anew(self, now: str) -> None:
        self.kept.clear()
        self.floor = self.latest = cursor_in(now)
        for viewer in self.viewers:
            viewer.give(message("behind", ""))

    async def written(self, batch: list[News]) -> Piece:
        ids = frozenset(news.item_id for news in batch if news.item_id is not None and news.workflow == TOKEN.name)
        if not any(viewer.subject == "wall" for viewer in self.viewers):
            return Piece(batch[-1].position, message("behind", "") if ids else b"", b"", b"", ids)
        cards = await self.cards(ids) if ids else b""
        numbers, figures = await self.numbers() if len(batch) < AT_ONCE else (b"", b"")  # else there is more to come
        return Piece(batch[-1].position, cards, numbers, figures, ids)

    async def cards(self, ids: Iterable[int]) -> bytes:
        """The newest of them, as many as may be."""
        if time.monotonic() - self.refilled_at >= 1:
            self.refilled_at, self.cards_left = time.monotonic(), CARDS_A_SECOND
        wanted = sorted(ids, reverse=True)
        chosen = wanted[: self.cards_left]
        self.cards_left -= len(chosen)
        written = await gallery.read(self.site, self.board, chosen) if chosen else []
        said = [message("card", card) for card in written]
        return b"".join(said + [message("behind", "")] * (len(chosen) < len(wanted)))

    async def numbers(self) -> tuple[bytes, bytes]:
        numbers = await self.board.numbers()
        public, operator = (
            message("numbers", self.site.part("parts/numbers.html", numbers=numbers, is_operator=is_operator))
            for is_operator in (False, True)
        )
        return public, operator


def message(event: str, html: str) -> bytes:
    data = "\n".join(f"data: {line}" for line in html.split("\n") if line.strip()) or "data:"
    return f"event: {event}\n{data}\n\n".encode()


async def going_on(site: Site, viewer: Viewer, last: str) -> Position:
    """A browser that is refused for what it was once told never comes back: what we cannot read counts as too long ago."""
    try:
        return cursor_in(last)
    except BadQuery:
        viewer.give(message("behind", ""))
        return cursor_in(await site.stream.now())


def mount(routes: APIRouter, site: Site) -> None:
    live = Live(site)

    async def watch(request: Request, of: Subject = "news", token: int = 0, after: str = "") -> Response:
        visitor = await site.door.visitor(request)
        viewer, start = Viewer(of, token, visitor.is_operator), cursor_in(after or await site.stream.now())
        if last := request.headers.get("last-event-id"):
            start = await going_on(site, viewer, last)
        said = live.watched(viewer, start)
        return StreamingResponse(said, 200, HEADERS, "text/event-stream")

    routes.add_api_route("/live", watch, methods=["GET"])
