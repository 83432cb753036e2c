"""uploading: the picture is whole in the object storage under its key, and its address is the job's result."""

from __future__ import annotations

from typing import Any

import msgspec

from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Fail, Retry, Verdict
from glisk.errors import StorageError
from glisk.processors import processor
from glisk.settings import Settings
from glisk.storage.objects import Objects

GONE = "The picture is not in the object storage"


@processor("uploading")
class Uploading:
    """It was put there in the moment it was drawn, since its provider keeps it for an hour at most: here it is read back, and
    whoever cannot be read is parked for a person."""

    lane: str | None = None

    def __init__(self, settings: Settings) -> None:
        self.objects = Objects.of(settings)

    async def run(self, claim: Claim) -> Verdict:
        found: Any = msgspec.json.decode(claim.row["payload"])
        key = found.get("image_data") if isinstance(found, dict) else None
        if not isinstance(key, str):
            return Fail("There is no picture to upload")
        try:
            data = await self.objects.get(key)
        except StorageError as error:
            return Retry(f"{error} {error.fix}", category="storage")
        if data is None:
            return Retry(f"{GONE}: {key}", category="storage")
        url = self.objects.address(key)
        facts = {"result": {**found, "image_url": url, "bytes": len(data)}, "payload": {"image_url": url}}
        return Done({**facts, "result_url": url, "output_r2_key": key, "progress": claim.percent(1)})
