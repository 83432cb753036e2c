"""Routes that take what they know: a parameter that is not theirs is refused by its name, and one without a value is none."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Request, Response
from fastapi.routing import APIRoute

from glisk.errors import BadQuery

Answer = Callable[[Request], Coroutine[Any, Any, Response]]


class Asked(APIRoute):
    """For `APIRouter(route_class=…)`."""

    def get_route_handler(self) -> Answer:
        inner: Answer = super().get_route_handler()
        known = [field.alias for field in self.dependant.query_params]

        async def answer(request: Request) -> Response:
            request.scope["query_string"] = sifted(request.scope["query_string"], known)
            return await inner(request)

        return answer


def sifted(query: bytes, known: list[str]) -> bytes:
    """Raises BadQuery for the first that is not known."""
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    if strange := next((name for name, _ in given if name not in known), None):
        wanted = f"Known are: {', '.join(known)}." if known else "It takes none."
        raise BadQuery(f"{strange[:50]}: there is no such parameter.", fix=wanted)
    return urlencode([(name, value) for name, value in given if value]).encode()
