"""tagging: what is in a job's picture, as danbooru's tags with a score each (seed 000)."""

from __future__ import annotations

from typing import Any

import msgspec
import structlog
from msgspec import Struct

from glisk.drawing.verdicts import on_storage
from glisk.engine.claim import Claim
from glisk.engine.decide import Fail, Verdict
from glisk.engine.link import Link
from glisk.engine.periodic import Periodic
from glisk.errors import StorageError
from glisk.processors import Limits, processor
from glisk.providers import taggers
from glisk.settings import Settings
from glisk.storage.objects import Objects
from glisk.thinking.asking import Asking

log = structlog.get_logger()


class Drawn(Struct, frozen=True):
    """What the step before has left."""

    image_data: str
    prompt: str = ""


@processor("tagging")
class Tagging:
    def __init__(self, settings: Settings) -> None:
        self.objects, self.tagger = Objects.of(settings), taggers.tagger(settings)
        self.asking = Asking(self.tagger, settings, taggers.estimate(settings))
        self.lane: str | None = self.tagger.name
        self.limits = Limits(concurrency=2) if self.tagger.is_free else Limits(concurrency=50, rate=10.0)

    async def run(self, claim: Claim) -> Verdict:
        try:
            drawn = msgspec.json.decode(claim.row["payload"], type=Drawn)
        except msgspec.DecodeError as error:
            return Fail(f"There is no picture to tag: {error}")
        try:
            data = await self.objects.get(drawn.image_data)
        except StorageError as error:
            return on_storage(error, self.lane or "tagger")
        if data is None:
            return Fail("The picture is not in the object storage")
        claim.reached(0.2)
        picture = taggers.Tagged(data, self.objects.address(drawn.image_data), drawn.prompt)
        return await self.asking.verdict(claim, picture, lambda output: self.facts(claim, taggers.tags_in(output)))

    def facts(self, claim: Claim, tags: list[dict[str, Any]]) -> dict[str, Any]:
        found = {"tags": tags, "tagger": self.tagger.model}
        log.info("picture tagged", id=claim.id, tags=len(tags))
        whole: Any = msgspec.json.decode(claim.row["payload"])
        told = {name: whole[name] for name in ("image_url", "image_data") if name in whole}
        return {"payload": found, "result": found | told, "progress": claim.percent(1)}

    async def close(self) -> None:
        await self.asking.close()

    def works(self, link: Link) -> list[Periodic]:
        return self.asking.works(link, "tagging")
