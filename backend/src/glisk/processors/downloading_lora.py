"""downloading-lora: the weights that a job names are here, checked, before anything is drawn with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Fail, Retry, Verdict
from glisk.errors import FetchError
from glisk.processors import Limits, processor
from glisk.providers.loras import BadLora, Loras
from glisk.providers.strangers import Strangers
from glisk.settings import Settings

log = structlog.get_logger()


class Named(Struct, frozen=True):
    """What a job says of the weights it wants to be drawn with."""

    lora_url: Annotated[str, Meta(min_length=1)]
    lora_sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | None = None
    lora_weight: Annotated[float, Meta(ge=-2, le=2)] = 1.0


@processor("downloading-lora")
class DownloadingLora:
    lane: str | None = "loras"
    limits = Limits(concurrency=2)

    def __init__(self, settings: Settings) -> None:
        self.strangers = Strangers.of(settings)
        directory = Path(settings.lora_dir).expanduser() if settings.lora_dir else settings.data_dir / "loras"
        self.loras = Loras(directory, settings.lora_max_mb << 20, self.strangers)

    async def run(self, claim: Claim) -> Verdict:
        try:
            named = msgspec.json.decode(claim.row["payload"], type=Named, strict=False)
        except msgspec.DecodeError as error:
            return Fail(f"The weights cannot be fetched as they are asked for: {error}")
        try:
            return await self.kept(claim, named)
        except BadLora as error:
            return Fail(str(error))
        except FetchError as error:
            return Retry(str(error), category="download") if error.may_pass else Fail(f"{error} {error.fix}")
        except OSError as error:
            return Retry(f"The weights could not be kept: {error.strerror}", category="storage")

    async def kept(self, claim: Claim, named: Named) -> Verdict:
        claim.reached(0.1)
        kept = await self.loras.kept(named.lora_url, named.lora_sha256)
        log.info("weights are here", id=claim.id, sha256=kept.sha256, fetched=kept.is_new)
        found = {"name": kept.sha256, "sha256": kept.sha256, "bytes": kept.size, "url": named.lora_url}
        facts = {"payload": {"lora": {**found, "weight": named.lora_weight}}, "progress": claim.percent(1)}
        return Done(facts)

    async def close(self) -> None:
        await self.strangers.close()
