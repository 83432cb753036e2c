"""How a project stands, at once and whenever that changes, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from hashlib import sha256
from uuid import UUID

from glisk.api import project_shapes
from glisk.api.events import ALIVE_EVERY_S, RETRY_MS, STILL_THERE, pausing
from glisk.engine.link import persistently
from glisk.engine.together import Together
from glisk.errors import RequestError, StreamsFull
from glisk.repositories.project_repository import Project, ProjectRepository

MOST = 1000  # who watch at once
LOOK_EVERY_S = 0.5
GONE = b"event: deleted\ndata: {}\n\n"


class ProjectWatch:
    """Those who look at the same moment ask the database once."""

    def __init__(self, projects: ProjectRepository, address: str) -> None:
        self.address, self.open, self.stopped = address, 0, asyncio.Event()
        self.look: Together[UUID, Project | None] = Together(projects.some)

    @asynccontextmanager
    async def watched(
        self, project_id: UUID, known: str | None, is_let: Callable[[], Awaitable[object]]
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """`known`: the id of the last event they had. `is_let` raises once they may not watch any more. Raises StreamsFull."""
        if self.open >= MOST:
            raise StreamsFull
        self.open += 1
        try:
            async with aclosing(self.chunks(project_id, known, is_let)) as chunks:
                yield chunks
        finally:
            self.open -= 1

    async def chunks(
        self, project_id: UUID, known: str | None, is_let: Callable[[], Awaitable[object]]
    ) -> AsyncGenerator[bytes, None]:
        yield f"retry: {RETRY_MS}\n\n".encode()
        async with aclosing(self.states(project_id)) as states:
            async for state in pausing(states, ALIVE_EVERY_S):
                if state is None:
                    try:
                        await is_let()
                    except RequestError:
                        return
                    yield STILL_THERE
                elif (name := name_of(state)) != known:
                    known = name
                    yield state if state is GONE else b"id: %b\nevent: project\ndata: %b\n\n" % (name.encode(), state)

    async def states(self, project_id: UUID) -> AsyncGenerator[bytes, None]:
        """As JSON, each once; until it is gone, or we are."""
        last = b""
        while not self.stopped.is_set():
            found = await persistently(lambda: self.look(project_id), "look at a project")
            if found is None:
                yield GONE
                return
            state = project_shapes.shown(found, self.address).model_dump_json(by_alias=True).encode()
            if state != last:
                last = state
                yield state
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self.stopped.wait()

    def stop(self) -> None:
        """A server cannot end before its answers do."""
        self.stopped.set()


def name_of(state: bytes) -> str:
    """Of what they have seen: who comes back is told only if it is another by now."""
    return sha256(state).hexdigest()[:16]
