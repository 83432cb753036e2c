"""/: every token as a card, the newest first. A card is there from the mint on, and becomes a picture before one's eyes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from glisk.errors import BadQuery
from glisk.repositories.gallery_board import FILTERS, NEWEST, PAGE, Card, GalleryBoard
from glisk.web import places
from glisk.web.places import Home
from glisk.web.site import Site

WALLET, NUMBER = re.compile(r"0x[0-9a-fA-F]{40}"), re.compile(r"[0-9]{1,18}")
TABS = (
    ("", "All"),
    ("under-way", "Under way"),
    ("revealed", "Revealed"),
    ("today", "Today"),
    ("review", "In review"),
    ("failed", "Failed"),
)
# Where there are none.
NONE = {
    "under-way": "Nothing is under way: every token has come to its end.",
    "revealed": "Nothing is revealed yet.",
    "today": "Nothing has become a picture since midnight, UTC.",
    "review": "Nothing waits for you to look at it.",
    "failed": "Nothing has failed.",
}
TINTS = 12  # grounds of cards that have no picture yet; gallery.css has as many


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants to see."""

    status: str = ""
    author: str = ""
    before: int = NEWEST

    @classmethod
    def of(cls, status: str, author: str, before: str) -> Wanted:
        if status and status not in FILTERS:
            raise BadQuery(f"status: one of {', '.join(FILTERS)} is wanted.")
        if author and not WALLET.fullmatch(author):
            raise BadQuery("author: 0x and 40 hex digits are wanted.")
        if before and not NUMBER.fullmatch(before):
            raise BadQuery("before: a number is wanted.")
        return cls(status, author.lower(), int(before) if before else NEWEST)

    @property
    def is_choice(self) -> bool:
        """Not simply the newest of all."""
        return bool(self.status) or self.before < NEWEST

    def address(self, **changes: str) -> str:
        kept = {"status": self.status, "author": self.author, **changes}
        said = urlencode({name: value for name, value in kept.items() if value})
        return f"/?{said}" if said else "/"


def mount(routes: APIRouter, site: Site) -> None:
    board = GalleryBoard(site.link, reveals=site.settings.reveals)

    async def show(
        request: Request, status: str = "", author: str = "", before: str = "", cursor: str = ""
    ) -> Response:
        if cursor:
            raise BadQuery("cursor: that is for /tokens; here it is `before`, a number.")
        wanted = Wanted.of(status, author, before)
        after = await site.stream.now()  # before the cards are read: what happens from then on comes live
        cards = await board.cards(wanted.status or None, wanted.author or None, wanted.before, PAGE + 1)
        shown, older = cards[:PAGE], cards[PAGE - 1].id if len(cards) > PAGE else None
        return await site.page(
            request,
            "gallery.html",
            after=after,
            wanted=wanted,
            tabs=TABS,
            statuses=board.statuses(wanted.status) if wanted.status and wanted.before == NEWEST else [],
            none=NONE.get(wanted.status, "There are no such tokens."),
            older=older and wanted.address(before=str(older)),
            cards=[written(site, card, home) for home in [await places.home(site)] for card in shown],
            numbers=await board.numbers(),
        )

    routes.add_api_route("/", show, methods=["GET"])


def written(site: Site, card: Card, home: Home) -> str:
    """The same for everybody who looks."""
    width, height = map(int, site.settings.image_size.split("x"))
    place = home.address(card.chain, card.contract, card.token_id)
    tint = int(card.token_id) % TINTS
    return site.part("parts/card.html", card=card, place=place, tint=tint, width=width, height=height)


async def read(site: Site, board: GalleryBoard, ids: Iterable[int]) -> list[str]:
    home = await places.home(site)
    return [written(site, card, home) for card in await board.named(list(ids))]
