"""What somebody sends us as a form with files: read as it comes, and not more than it may be.

Of a file no more than a megabyte is in memory; the rest waits in a file without a name, which is gone when the answer is.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from glisk.errors import BadQuery, BodyTooLarge

MB = 1024 * 1024
MOST_FIELDS = 20
FORM = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class Limits:
    """In bytes; `files` is how many."""

    file: int
    files: int
    total: int
    field: int = MB


@asynccontextmanager
async def form_of(request: Request, limits: Limits, known: Collection[str]) -> AsyncIterator[FormData]:
    """Raises BodyTooLarge as soon as it is, and BadQuery for what is no form or has other fields than are known."""
    if not is_form(request):
        raise BadQuery(f"The body: {FORM} is wanted.")
    form = await parsed(request, limits)
    try:
        if strange := next((name for name in form if name not in known), None):
            raise BadQuery(f"{strange[:50]}: there is no such field.", fix=f"Known are: {', '.join(known)}.")
        yield form
    finally:
        await form.close()


def is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM


async def parsed(request: Request, limits: Limits) -> FormData:
    stream = capped(request, limits.total)
    try:
        return await Parser(request.headers, stream, limits).parse()
    except MultiPartException as error:
        raise BadQuery(f"The body: {error.message.rstrip('.')}.") from None
    except BodyTooLarge:
        with suppress(BodyTooLarge):
            async for _ in stream:  # whoever still sends would not hear why
                pass
        raise


class Parser(MultiPartParser):
    """Starlette's, which counts files but does not weigh them."""

    def __init__(self, headers: Headers, stream: AsyncGenerator[bytes, None], limits: Limits) -> None:
        super().__init__(headers, stream, max_files=limits.files, max_fields=MOST_FIELDS, max_part_size=limits.field)
        self.largest, self.taken = limits.file, 0

    def on_part_begin(self) -> None:
        self.taken = 0
        super().on_part_begin()

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self.taken += end - start
        if self.taken > self.largest:
            raise BodyTooLarge(f"One file of it may have {self.largest // MB} MB.")
        super().on_part_data(data, start, end)


async def capped(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """What is too much is read on for a while, and goes nowhere: whoever still sends does not hear why they should stop."""
    taken = 0
    async for chunk in request.stream():
        taken += len(chunk)
        if taken <= most:
            yield chunk
        elif taken > 2 * most:
            break
    if taken > most:
        raise BodyTooLarge(f"It may have {most // MB} MB.")


def field(form: FormData, name: str) -> str | None:
    """One text, if it is there."""
    given = form.getlist(name)
    if len(given) > 1 or any(not isinstance(each, str) for each in given):
        raise BadQuery(f"{name}: one text is wanted.")
    return str(given[0]) if given else None


def files(form: FormData, name: str) -> list[UploadFile]:
    """With something in each of them."""
    given: list[Any] = form.getlist(name)
    for each in given:
        if not isinstance(each, UploadFile):
            raise BadQuery(f"{name}: a file is wanted.")
        if not each.size:
            raise BadQuery(f"{name}: {(each.filename or 'a file')[:100]!r} is empty.")
    return given
