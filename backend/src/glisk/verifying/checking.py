"""One token, from its URI to its picture, through every gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TypeVar

from glisk.chain.mint import Contract
from glisk.storage.ipfs import unixfs
from glisk.verifying.gateways import Gateway, Missing
from glisk.verifying.judging import Judged, NotNamed, judged, named_in
from glisk.verifying.verdict import Problem, Verdict, What

MOST_JSON, MOST_PICTURE = 1024 * 1024, 50 * 1024 * 1024
SMALL = 64 * 1024  # is hashed faster than handed to a thread
T = TypeVar("T")


class Check:
    """Of one token. What it finds on its way it notes in `problems`."""

    def __init__(self, gateways: Sequence[Gateway], contract: Contract, token_id: int) -> None:
        self.gateways, self.contract, self.token_id = gateways, contract, token_id
        self.problems: list[Problem] = []

    async def verdict(self, uri: str) -> Verdict:
        metadata = await self.metadata(uri)
        image_cid, is_whole = (None, False) if metadata is None else await self.picture(metadata, uri)
        return Verdict(
            token_id=self.token_id,
            uri=uri,
            is_whole=is_whole,
            image_cid=image_cid,
            signer=metadata.signer if metadata else None,
            problems=self.problems,
        )

    async def metadata(self, uri: str) -> Judged | None:
        """None: it cannot be had."""
        try:
            cid = named_in(uri)
        except NotNamed as error:
            self.wrong("URI", str(error))
            return None
        if (data := await self.had("metadata", cid, MOST_JSON, bytes)) is None:
            return None
        found = judged(data, self.contract, self.token_id)
        for flaw in found.flaws:
            self.wrong("metadata", flaw, cid)
        return found

    async def picture(self, metadata: Judged, uri: str) -> tuple[str | None, bool]:
        """Its CID, and whether it was had."""
        if metadata.image is None:
            return None, False
        try:
            cid = named_in(metadata.image)
        except NotNamed as error:
            self.wrong("picture", str(error), named_in(uri))
            return None, False
        digest = await self.had("picture", cid, MOST_PICTURE, lambda data: sha256(data).digest())
        if None not in (digest, metadata.sha256) and digest != metadata.sha256:
            self.wrong("picture", "its SHA-256 is not the one that was signed", cid)
        return cid, digest is not None

    async def had(self, what: What, cid: str, limit: int, keep: Callable[[bytes], T]) -> T | None:
        """What is kept of the true bytes; None where no gateway has them. One after the other, so that there is never more than
        one copy in memory."""
        found: T | None = None
        for gateway in self.gateways:
            try:
                data = await gateway.fetched(cid, limit)
            except Missing as missing:
                self.problems.append(Problem(kind="missing", what=what, why=str(missing), gateway=gateway.url, cid=cid))
                continue
            if (kept := await true_part(cid, data, keep)) is None:
                self.wrong(what, f"the bytes are not those of {cid}", cid, gateway.url)
            else:
                found = kept
        return found

    def wrong(self, what: What, why: str, cid: str = "", gateway: str = "") -> None:
        self.problems.append(Problem(kind="wrong", what=what, why=why, gateway=gateway, cid=cid))


async def true_part(cid: str, data: bytes, keep: Callable[[bytes], T]) -> T | None:
    """None: these are other bytes."""

    def look() -> T | None:
        return keep(data) if unixfs.matches(cid, data) else None

    return look() if len(data) <= SMALL else await asyncio.to_thread(look)
