"""pinning: the picture and what is said about it are kept on IPFS, under CIDs that are known before."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import structlog

from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Fail, Hold, Retry, Review, Verdict, Wait
from glisk.engine.link import Link, persistently
from glisk.engine.periodic import Periodic
from glisk.errors import (
    KeyUnusable,
    NotArrived,
    ObjectMissing,
    PinError,
    PinForbidden,
    PinLimited,
    PinRefused,
    StorageError,
    StorageUnusable,
)
from glisk.images.tags import tags_of
from glisk.processors import Limits, processor
from glisk.publishing import pins
from glisk.publishing.metadata import metadata_of, provenance_wallet
from glisk.publishing.picture import Picture, Pictures
from glisk.publishing.pins import Pinnable
from glisk.publishing.tending import tending
from glisk.settings import Settings
from glisk.storage.ipfs import chosen
from glisk.storage.ipfs.port import Dag
from glisk.storage.ipfs.unixfs import dag
from glisk.storage.objects import Objects

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

log = structlog.get_logger()

LANES = {"pinata": "pinata", "kubo": "kubo", "local": "ipfs"}  # each has limits of its own
MOST_TRAITS = 6
LOOK = "It is pinned, and waits for a look before the reveal: glisk tokens accept"
STORAGE_REST, DOWNLOAD_REST = timedelta(seconds=10), timedelta(seconds=10)
LIMITS = {
    "pinata": Limits(concurrency=8, rate=0.5),  # its smallest plan takes 60 files a minute, and a token is two
    "kubo": Limits(concurrency=8),
    "local": Limits(concurrency=8),
}


@processor("pinning")
class Pinning:
    def __init__(self, settings: Settings) -> None:
        self.settings, self.objects = settings, Objects.of(settings)
        self.pinners = chosen.pinners(settings)
        self.lane: str | None = LANES[self.pinners[0].name]
        self.limits = LIMITS[self.pinners[0].name]
        self.pictures = Pictures(self.objects)
        self.wallet: LocalAccount | None = None
        self.unlocking = asyncio.Lock()

    async def run(self, claim: Claim) -> Verdict:
        try:
            return await self.pinned(claim)
        except PinForbidden as error:
            return Hold(f"{error} {error.fix} Then: glisk lanes resume {self.lane}")
        except PinLimited as error:
            return Wait(error.after, str(error), closes_lane=True)
        except (PinRefused, ObjectMissing) as error:
            return Fail(f"{error} {error.fix}")
        except PinError as error:
            return Retry(f"{error} {error.fix}", category="pinning")
        except NotArrived as error:
            return Retry(error.said, category="download", after=DOWNLOAD_REST)
        except (KeyUnusable, StorageUnusable) as error:
            return Hold(f"{error} {error.fix} Then: glisk lanes resume {self.lane}")
        except StorageError as error:
            return Wait(STORAGE_REST, str(error))

    async def pinned(self, claim: Claim) -> Verdict:
        picture = await self.tagged(claim, await self.pictures.of(claim.row))
        image = await asyncio.to_thread(dag, picture.data)
        metadata, salt = await self.metadata(claim, picture, image.root)
        described = dag(metadata)
        stored = await self.objects.put(metadata, "application/json", "json")
        name = f"{self.settings.collection_name}-{int(claim.row['token_id'])}"
        await self.put(image, f"{name}-image")
        await self.put(described, name)
        files = [Pinnable(image.root, picture.key, f"{name}-image"), Pinnable(described.root, stored.key, name)]
        await self.note(claim, files)
        facts = {**picture.facts, "image_cid": image.root, "metadata_cid": described.root, "prompt_salt": salt}
        log.info("token pinned", id=claim.id, image=image.root, metadata=described.root)
        return Review(LOOK, facts) if self.settings.reveal == "review" else Done(facts)

    async def tagged(self, claim: Claim, picture: Picture) -> Picture:
        """By the picture alone: the words of its prompt may not be public."""
        if not self.settings.token_tags or claim.row["tags"]:
            return picture
        names = await asyncio.to_thread(traits_of, picture.data)
        return Picture(picture.data, picture.key, {**picture.facts, "tags": names})

    async def metadata(self, claim: Claim, picture: Picture, image_cid: str) -> tuple[bytes, bytes | None]:
        wallet = await self.unlocked()
        row: dict[str, Any] = {**dict(claim.row), **picture.facts}
        row["tags"] = row["tags"] if isinstance(row["tags"], str | None) else msgspec.json.encode(row["tags"]).decode()
        return await persistently(
            lambda: metadata_of(claim.link.fetch, row, image_cid, self.settings, wallet), "read ledger"
        )

    async def unlocked(self) -> LocalAccount:
        async with self.unlocking:
            if self.wallet is None:
                self.wallet = await asyncio.to_thread(provenance_wallet, self.settings)
            return self.wallet

    async def put(self, file: Dag, label: str) -> None:
        await self.pinners[0].put(file, label)

    async def note(self, claim: Claim, files: list[Pinnable]) -> None:
        """That they are there, and that the other pinners are to have them too."""
        first, *others = [pinner.name for pinner in self.pinners]
        every = timedelta(hours=self.settings.pin_check_hours)
        await persistently(lambda: pins.kept(claim.link.fetch, claim.id, files, first, others, every), "note pins")

    async def close(self) -> None:
        await self.pictures.close()
        for pinner in self.pinners:
            await pinner.close()

    def works(self, link: Link) -> list[Periodic]:
        return [tending(link, self.pinners, self.objects, timedelta(hours=self.settings.pin_check_hours))]


def traits_of(data: bytes) -> list[str]:
    """What a collector would look for; what cannot be decoded has none."""
    try:
        return [tag.name for tag in tags_of(data)[:MOST_TRAITS]]
    except ValueError:
        return []
