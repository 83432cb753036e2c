"""Is the picture any good, and unlike all others? If so it is stored."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256

from glisk.drawing.subject import Image, Subject
from glisk.engine.claim import Claim
from glisk.engine.decide import Closing, Done, Review, Verdict
from glisk.engine.ledger import Attempt
from glisk.engine.link import persistently
from glisk.errors import ProviderFailed
from glisk.images.fingerprint import Fingerprint
from glisk.images.gate import Judgement, judge
from glisk.images.mark import presentable
from glisk.images.sniff import Format, sniff
from glisk.providers.port import Picture
from glisk.repositories import leftovers, prints
from glisk.storage.objects import Objects, Stored


def bench() -> ThreadPoolExecutor:
    """One thread a core, and a line of its own: whoever stores a picture need not wait for all that are still to be judged."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="gate")


@dataclass(frozen=True, slots=True)
class Acceptance:
    objects: Objects
    bench: ThreadPoolExecutor = field(default_factory=bench)

    async def verdict(self, claim: Claim, subject: Subject, attempt: Attempt, picture: Picture) -> Verdict:
        """Raises ProviderFailed for a picture that is certainly broken: another is drawn, and uses an attempt. Until the
        verdict is settled the attempt stays open: whoever dies before that fetches the picture again, and pays nothing."""
        order, loop = subject.order(attempt), asyncio.get_running_loop()
        judgement, data = await loop.run_in_executor(self.bench, examined, picture, (order.width, order.height))
        if judgement.verdict == "regenerate":
            raise unusable(judgement.reason, picture)
        if subject.is_unique and judgement.fingerprint:
            await self.require_no_twin(claim, judgement.fingerprint, picture)
        facts = subject.facts(await self.stored(claim, subject, picture, data), attempt)
        details = {"sha256": sha256(picture.data).hexdigest(), "bytes": len(picture.data), "gate": judgement.reason}
        details |= {"version": picture.version} if picture.version else {}
        closes = Closing(attempt.id, "done", picture.cost, details=details)
        is_sound = judgement.verdict == "pass"
        return Done(facts, closes) if is_sound else Review(judgement.reason, facts, closes)

    async def require_no_twin(self, claim: Claim, found: Fingerprint, picture: Picture) -> None:
        twin = await persistently(lambda: prints.kept(claim.link, claim.id, found), "compare")
        if twin is not None:
            raise unusable(f"It is the same picture as that of token {twin}, or nearly", picture)

    async def stored(self, claim: Claim, subject: Subject, picture: Picture, data: bytes) -> Image:
        kind = sniff(data)
        assert kind, "the gate has decoded it"
        stored = await self.kept(claim, subject, data, kind)
        own = self.objects.address(stored.key)
        return Image(stored.key, bytes.fromhex(stored.sha256), kind.mime, picture.url or own, own)

    async def kept(self, claim: Claim, subject: Subject, data: bytes, kind: Format) -> Stored:
        """Two jobs with one seed have the same bytes, and whoever deletes those of one must not take the other's: it is announced."""
        if subject.is_unique:
            return await self.objects.put(data, kind.mime, kind.extension)
        return await persistently(lambda: leftovers.keep(claim.link.fetch, self.objects, data, kind), "store")

    def close(self) -> None:
        self.bench.shutdown(wait=False)


def examined(picture: Picture, size: tuple[int, int]) -> tuple[Judgement, bytes]:
    """And the file as the world may have it, with the mark that says a model drew it, so that the hash is of what people get."""
    judgement = judge(picture.data, *size)
    return judgement, b"" if judgement.verdict == "regenerate" else presentable(picture.data)


def unusable(reason: str, picture: Picture) -> ProviderFailed:
    return ProviderFailed(reason, category="image", provider_code="gate", cost=picture.cost)
