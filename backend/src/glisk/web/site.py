"""What every page has: the parts behind it, the one who asks, and how it is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment

from glisk.api.access import Door, Visitor
from glisk.api.stream import Stream
from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.settings import Settings
from glisk.storage.objects import Objects
from glisk.web import looks

SAID = "glisk_said"  # the cookie with what became of the last action, for the next page
SAID_FOR = 20  # seconds
LONGEST_SAID = 600
# Nothing comes from elsewhere, nothing is written into a page, nobody shows us in a frame.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "img-src 'self' data:",
        *(f"{kind}-src 'self'" for kind in ("style", "script", "connect", "font", "manifest")),
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Site:
    """`examine`: the doctor's checks, whose parts, states and fixes the System page shows."""

    link: Link
    settings: Settings
    door: Door
    objects: Objects
    stream: Stream
    examine: Callable[[], Awaitable[Sequence[Any]]]
    templates: Environment = field(default_factory=looks.environment)

    async def page(
        self, request: Request, template: str, *, status: int = 200, visitor: Visitor | None = None, **values: Any
    ) -> Response:
        """A whole page. A request of htmx gets it too, and takes what it wants of it by hx-select."""
        visitor = visitor or await self.door.visitor(request)
        held = await self.held() if visitor.is_operator else []
        shared = {"visitor": visitor, "held": held, "here": request.url.path, "said": said_in(request), "after": ""}
        return self.answer(self.templates.get_template(template).render(shared | self.words() | values), status)

    def part(self, template: str, **values: Any) -> str:
        """A piece of a page."""
        return self.templates.get_template(template).render(self.words() | values)

    def answer(self, html: str, status: int = 200) -> Response:
        answer = HTMLResponse(html, status, HEADERS)
        answer.delete_cookie(SAID, path="/")
        return answer

    def back(self, to: str, said: str = "") -> Response:
        """After an action: to a page that says what became of it."""
        answer = RedirectResponse(to, 303, {"Cache-Control": "no-store"})
        if said:
            text = quote(said[:LONGEST_SAID])
            answer.set_cookie(
                SAID, text, max_age=SAID_FOR, path="/", httponly=True, samesite="strict", secure=self.is_https
            )
        return answer

    async def held(self) -> list[dict[str, Any]]:
        """Lanes in which nothing goes on until somebody resumes them."""
        return [lane for lane in await lanes.every_lane(self.link) if lane["state"] == "held"]

    def words(self) -> dict[str, Any]:
        return {"collection": self.settings.collection_name, "settings": self.settings}

    @property
    def is_https(self) -> bool:
        return urlsplit(self.settings.address).scheme == "https"


def said_in(request: Request) -> str:
    return unquote(request.cookies.get(SAID, ""))
