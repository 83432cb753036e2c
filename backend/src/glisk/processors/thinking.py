"""thinking: a language task is done (seed 001), by whoever the settings name, and paid for once."""

from __future__ import annotations

from typing import Any

import structlog

from glisk.engine.claim import Claim
from glisk.engine.decide import Fail, Verdict
from glisk.engine.link import Link, persistently
from glisk.engine.periodic import Periodic
from glisk.processors import Limits, processor
from glisk.providers import thinker
from glisk.providers.answerer import Answerer
from glisk.providers.thinker import Task
from glisk.repositories.relatives import parents_of
from glisk.settings import Settings
from glisk.thinking import tasks
from glisk.thinking.asking import Asking
from glisk.thinking.tasks import Kind
from glisk.workflows import LLM_TASK

log = structlog.get_logger()

LIMITS = {
    "replicate": Limits(concurrency=500, rate=10.0),
    "llm": Limits(concurrency=20),
    "writer": Limits(concurrency=20),
}
STEP = LLM_TASK.active("waiting")


@processor("thinking")
class Thinking:
    def __init__(self, settings: Settings, thinks: Answerer[Task] | None = None) -> None:
        self.thinker = thinks or thinker.thinker(settings)
        self.asking = Asking(self.thinker, settings, thinker.estimate(settings))
        self.lane: str | None = self.thinker.name
        self.limits = LIMITS[self.thinker.name]

    async def run(self, claim: Claim) -> Verdict:
        try:
            kind = tasks.kind_of(claim.row["name"], claim.row["payload"])
        except tasks.NoSuchTask as error:
            return Fail(str(error))
        claim.reached(0.1)
        parents = await persistently(lambda: parents_of(claim.link.fetch, claim.id), "read parents")
        return await self.asking.verdict(claim, kind.task(parents), lambda output: self.facts(claim, kind, output))

    def facts(self, claim: Claim, kind: Kind, output: Any) -> dict[str, Any]:
        found = {**kind.read(output), "model": self.thinker.model}
        log.info("task done", id=claim.id, name=claim.row["name"])
        return {"result": found, "progress": claim.percent(1)}

    async def close(self) -> None:
        await self.asking.close()

    def works(self, link: Link) -> list[Periodic]:
        return self.asking.works(link, STEP)
