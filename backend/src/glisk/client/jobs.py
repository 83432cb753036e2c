"""Jobs: asked for, watched, stopped, and what came of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec

from glisk.client.asking import given, once
from glisk.client.calling import AGAIN, Caller
from glisk.client.problem import Problem
from glisk.client.shapes import Job, JobPage, Made, Result, Standing

NOT_YET, GONE = 202, 404


@dataclass(frozen=True, slots=True)
class Jobs:
    caller: Caller

    async def make(
        self,
        prompt: str | None = None,
        *,
        name: str | None = None,
        priority: int = 0,
        delay: timedelta | None = None,
        attempts: int | None = None,
        parents: Sequence[UUID] = (),
        on_failure: Literal["fail", "ignore"] = "fail",
        webhook_url: str | None = None,
        conversation_id: str | None = None,
        user_id: str | None = None,
        opts: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        **task: Any,
    ) -> Made:
        """Ask for one. `task`: its own fields, such as `width`, `height`, `seed` or `styles`. However often it is sent, it is made once."""
        wish = given(
            **task,
            prompt=prompt,
            name=name,
            priority=priority,
            delay=None if delay is None else delay // timedelta(milliseconds=1),
            attempts=attempts,
            parents=parents or None,
            onFailure=on_failure,
            webhookUrl=webhook_url,
            conversationId=conversation_id,
            userId=user_id,
            opts=opts,
        )
        return await self.caller.read(Made, "POST", "/jobs", **once(wish, idempotency_key))

    async def show(self, job_id: UUID) -> Job:
        return await self.caller.read(Job, "GET", f"/jobs/{job_id}")

    async def list(
        self, *, status: str | None = None, user: str | None = None, limit: int = 50
    ) -> AsyncGenerator[Job, None]:
        """The newest first, `limit` at a time."""
        asked = given(status=status, user=user, limit=limit)
        async for page in self.caller.pages(JobPage, "/jobs", **asked):
            for job in page.jobs:
                yield job

    async def cancel(self, job_id: UUID) -> Job:
        return await self.act(job_id, "cancel")

    async def pause(self, job_id: UUID) -> Job:
        return await self.act(job_id, "pause")

    async def resume(self, job_id: UUID) -> Job:
        return await self.act(job_id, "resume")

    async def retry(self, job_id: UUID) -> Job:
        return await self.act(job_id, "retry")

    async def act(self, job_id: UUID, verb: str) -> Job:
        return await self.caller.read(Job, "POST", f"/jobs/{job_id}/{verb}", repeats=False)

    async def watch(self, job_id: UUID) -> AsyncGenerator[Standing, None]:
        """How it stands, now and whenever that changes, until it has ended. A stream that breaks is taken up again."""
        seen = None
        async with aclosing(self.caller.follow(f"/jobs/{job_id}/events")) as events:
            async for event in events:
                if event is None:
                    if await self.is_over(job_id):
                        return
                elif (standing := msgspec.json.decode(event.data, type=Standing)) != seen:
                    seen = standing
                    yield standing

    async def is_over(self, job_id: UUID) -> bool:
        """A server that stops ends its streams as well."""
        try:
            return (await self.show(job_id)).is_over
        except Problem as problem:
            if problem.status == GONE:
                return True
            raise

    async def result(self, job_id: UUID, *, again: bool = False) -> Result:
        """Waits until it has ended. It is told once; `again`: also if it was sent before and is still there."""
        while True:
            params = {"jobId": str(job_id), **(AGAIN if again else {})}
            answer = await self.caller.ask("GET", "/jobResult", repeats=True, if_lost=AGAIN, params=params)
            if answer.status_code != NOT_YET:
                return msgspec.json.decode(answer.content, type=Result)
            async for _ in self.watch(job_id):
                pass
