"""Is the picture any good, and unlike all others? If so it is stored, and the row and the ledger learn of it together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from glisk.drawing.subject import Image, Subject
from glisk.engine import ledger, store
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Review, Verdict, Wait
from glisk.engine.ledger import Attempt
from glisk.engine.link import persistently
from glisk.errors import ProviderFailed
from glisk.images import gate, mark
from glisk.images.fingerprint import Fingerprint
from glisk.images.sniff import sniff
from glisk.providers.port import Picture
from glisk.repositories import prints
from glisk.storage.objects import Objects


@dataclass(frozen=True, slots=True)
class Acceptance:
    objects: Objects
    size: tuple[int, int]

    async def verdict(self, claim: Claim, subject: Subject, attempt: Attempt, picture: Picture) -> Verdict:
        """Raises ProviderFailed for a picture that is certainly broken: another is drawn, and uses an attempt."""
        judgement = await asyncio.to_thread(gate.judge, picture.data, *self.size)  # milliseconds of computing
        if judgement.verdict == "regenerate":
            raise unusable(judgement.reason, picture)
        if subject.is_unique and judgement.fingerprint:
            await self.require_no_twin(claim, judgement.fingerprint, picture)
        image = await self.stored(picture)
        facts = subject.facts(image, attempt.prompt_source)
        taken = await persistently(lambda: self.taken(claim, attempt, picture, facts, judgement.reason), "accept")
        if not taken:
            return Wait()  # somebody else's claim by now: nothing of this is written
        return Review(judgement.reason) if judgement.verdict == "quarantine" else Done()

    async def stored(self, picture: Picture) -> Image:
        """With the mark that says a model drew it, so that the hash is of the file that people get."""
        data = await asyncio.to_thread(mark.marked, picture.data)
        kind = sniff(data)
        assert kind, "the gate has decoded it"
        stored = await self.objects.put(data, kind.mime, kind.extension)
        address = picture.url or self.objects.address(stored.key)
        return Image(stored.key, bytes.fromhex(stored.sha256), kind.mime, address)

    async def taken(
        self, claim: Claim, attempt: Attempt, picture: Picture, facts: Mapping[str, Any], remark: str
    ) -> bool:
        """The row and the ledger learn of it together: whoever dies before that fetches it again, and pays nothing."""
        details = {"sha256": sha256(picture.data).hexdigest(), "bytes": len(picture.data), "gate": remark}
        async with claim.link.transaction() as fetch:
            if not await store.note(fetch, claim.workflow.table, claim.as_row(), facts, claim.worker):
                return False
            await ledger.record(fetch, attempt.id, "done", cost=picture.cost, details=details)
            return True

    async def require_no_twin(self, claim: Claim, found: Fingerprint, picture: Picture) -> None:
        twin = await persistently(lambda: prints.kept(claim.link, claim.id, found), "compare")
        if twin is not None:
            raise unusable(f"It is the same picture as that of token {twin}, or nearly", picture)


def unusable(reason: str, picture: Picture) -> ProviderFailed:
    return ProviderFailed(reason, category="image", provider_code="gate", cost=picture.cost)
