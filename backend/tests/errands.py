"""Processors for `glisk work` in tests: they do what the job's payload says."""

from __future__ import annotations

import asyncio
import json
import threading

from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Verdict
from glisk.processors import Limits, processor


async def obey(claim: Claim) -> Verdict:
    """`hold`: at work until somebody ends it; `hold once`: only the first time; `block`: and the event loop with it."""
    order = json.loads(claim.row["payload"]).get("do")
    if order == "block":
        threading.Event().wait()  # that is the mistake to survive
    if order == "hold" or (order == "hold once" and claim.epoch == 1):
        await asyncio.Event().wait()
    return Done()


@processor("generating")
class Generate:
    lane: str | None = None

    async def run(self, claim: Claim) -> Verdict:
        return await obey(claim)


@processor("tagging")
class Tag:
    lane: str | None = "tagger"
    limits = Limits(concurrency=50)

    async def run(self, claim: Claim) -> Verdict:
        return await obey(claim)
