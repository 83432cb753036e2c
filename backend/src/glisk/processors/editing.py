"""editing: a picture is changed where a user wants it (seed 002), and nothing is paid for twice unless a person says so."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import structlog

from glisk.drawing.purse import Purse, Spent
from glisk.drawing.subject import Asked
from glisk.drawing.verdicts import Verdicts, on_storage
from glisk.editing import request
from glisk.editing.preparing import Project, prepared
from glisk.editing.sources import Sources
from glisk.engine import ledger
from glisk.engine.claim import Claim
from glisk.engine.decide import Closing, Done, Fail, Retry, Verdict
from glisk.engine.ledger import Attempt
from glisk.engine.link import Link, LinkLost, persistently
from glisk.engine.periodic import Periodic
from glisk.errors import (
    EditUnusable,
    FetchedTooSlow,
    FetchError,
    OutcomeUnknown,
    ProviderError,
    StorageError,
)
from glisk.images.mark import presentable
from glisk.images.masks import with_holes
from glisk.images.opened import as_png, opened
from glisk.images.sniff import PNG, Format, sniff
from glisk.processors import Limits, processor
from glisk.providers import editors
from glisk.providers.editor import Edit, Edited, Editor
from glisk.providers.openai.classify import UNKNOWN
from glisk.providers.strangers import Strangers
from glisk.repositories import leftovers
from glisk.settings import Settings
from glisk.storage.objects import Objects, Stored
from glisk.workflows import IMAGE_EDIT, JOBS

log = structlog.get_logger()

PROJECT = "SELECT original_image_url, project_type FROM projects WHERE project_id = $1"
INPUT = "INSERT INTO job_inputs (item_id, object_key) SELECT id, $2 FROM jobs WHERE id = $1 ON CONFLICT DO NOTHING"
STEP = IMAGE_EDIT.active("pending")
PREPARATION = timedelta(minutes=3)  # of the ten that an edit may take: the editor gets five
RESTS_S = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)  # between tries to store what was paid for
LIMITS = {editors.OPENAI: Limits(concurrency=10, rate=1.0), editors.DARKROOM: Limits(concurrency=2)}
INTERRUPTED = f"It was sent, and whoever had sent it did not live to see the answer. {UNKNOWN}"
CODE = {"code": OutcomeUnknown.code}
CANCELLED = f"Its job had ended before the answer came. {UNKNOWN}"


@dataclass(frozen=True, slots=True)
class Result:
    """A picture that can be decoded, as the world may have it."""

    data: bytes
    kind: Format
    size: tuple[int, int]


@processor("editing")
class Editing:
    def __init__(self, settings: Settings, editor: Editor | None = None, rests_s: tuple[float, ...] = RESTS_S) -> None:
        self.editor = editor or editors.editor(settings)
        self.lane: str | None = self.editor.name
        self.limits = LIMITS[self.editor.name]
        self.objects, self.strangers, self.rests_s = Objects.of(settings), Strangers.of(settings), rests_s
        self.sources = Sources(self.objects, self.strangers)
        self.purse = Purse(self.editor, editors.estimate(settings), settings.daily_budget)
        self.verdicts = Verdicts(settings)

    @property
    def is_paid(self) -> bool:
        return self.editor.name not in editors.FREE

    async def run(self, claim: Claim) -> Verdict:
        try:
            edit = await self.prepared(claim)
            return await self.edited(claim, edit)
        except EditUnusable as error:
            return Fail(error.said)
        except FetchError as error:
            return Retry(str(error), "network")
        except Spent as spent:
            return spent.verdict(self.editor.name)
        except StorageError as error:
            return on_storage(error, self.editor.name)

    async def prepared(self, claim: Claim) -> Edit:
        wanted = request.read(claim.row["payload"])
        rows = await persistently(lambda: claim.link.fetch(PROJECT, claim.row["project_id"]), "read project")
        project = Project(*rows[0]) if rows else Project(None, None)
        try:
            async with asyncio.timeout(PREPARATION.total_seconds()):
                edit = await prepared(self.sources, wanted, project)
        except TimeoutError as error:
            raise FetchedTooSlow(f"All pictures together were given {PREPARATION}.") from error
        if self.is_paid:
            await self.require_storage(claim, edit)
        claim.progress(20)
        return edit

    async def require_storage(self, claim: Claim, edit: Edit) -> None:
        """A storage that takes nothing is met before anything is paid for. What it took goes when the job does."""
        mask = edit.mask()
        sheet = edit.base if mask is None else with_holes(mask)
        stored = await self.kept(claim, await asyncio.to_thread(as_png, sheet), PNG)
        await persistently(lambda: claim.link.fetch(INPUT, claim.id, stored.key), "keep input")

    async def edited(self, claim: Claim, edit: Edit) -> Verdict:
        attempt = await self.opened(claim, edit)
        if isinstance(attempt, Fail):
            return attempt
        try:
            edited = await self.asked(claim, attempt, edit)
            claim.progress(80)
            return await self.settled(claim, attempt, edited, await asyncio.to_thread(examined, edited))
        except ProviderError as error:
            return await self.verdicts.on(claim, attempt, error)

    async def opened(self, claim: Claim, edit: Edit) -> Attempt | Fail:
        """A call that somebody else has left open may have been paid for, and there is no receipt to ask after: only a person
        may make another. One that costs nothing is made again."""
        seed = secrets.randbits(31)
        attempt = await self.purse.open(claim, Asked(edit.prompt, "user", seed))
        if attempt.seed == seed:
            return attempt
        if attempt.provider not in editors.FREE:
            said = f"OpenAI may have made this edit already. {INTERRUPTED}"
            return Fail(said, closes=Closing(attempt.id, "unknown", error_code="interrupted", error=said, details=CODE))
        if not self.is_paid:
            return attempt
        await persistently(lambda: ledger.record(claim.link.fetch, attempt.id, "cancelled"), "close attempt")
        return await self.opened(claim, edit)

    async def asked(self, claim: Claim, attempt: Attempt, edit: Edit) -> Edited:
        try:
            return await self.editor.edit(edit)
        except asyncio.CancelledError:
            if claim.is_lost:  # its row may wait for nobody, or be somebody else's: this call was ours
                with suppress(LinkLost):  # then it is closed by and by
                    await self.given_up(claim.link, attempt.id, attempt.provider)
            raise

    async def settled(self, claim: Claim, attempt: Attempt, edited: Edited, result: Result) -> Verdict:
        try:
            stored = await self.stored(claim, result)
        except StorageError as error:
            if not self.is_paid:
                raise
            said = f"The edit was made and paid for, and could not be stored: {error} A retry pays again."
            closes = Closing(attempt.id, "failed", edited.cost, "storage", said, details={"code": error.code})
            return Fail(said, closes=closes)
        log.info("picture edited", attempt=attempt.id, key=stored.key, cost=str(edited.cost))
        details = {**edited.details, "sha256": stored.sha256, "bytes": stored.size}
        return Done(self.facts(stored, result), Closing(attempt.id, "done", edited.cost, details=details))

    async def stored(self, claim: Claim, result: Result) -> Stored:
        """What was paid for is here and nowhere else: it is put again and again before it is given up."""
        for rest in self.rests_s if self.is_paid else ():
            try:
                return await self.kept(claim, result.data, result.kind)
            except StorageError as error:
                log.warning("an edit could not be stored yet", error=str(error), seconds=rest)
                await asyncio.sleep(rest)
        return await self.kept(claim, result.data, result.kind)

    async def kept(self, claim: Claim, data: bytes, kind: Format) -> Stored:
        return await persistently(lambda: leftovers.keep(claim.link.fetch, self.objects, data, kind), "store")

    def facts(self, stored: Stored, result: Result) -> dict[str, object]:
        width, height = result.size
        told = {"image_key": stored.key, "image_mime": result.kind.mime, "image_sha256": stored.sha256}
        return {
            "result_url": self.objects.address(stored.key),
            "output_r2_key": stored.key,
            "result": told | {"width": width, "height": height},
            "progress": 100,
        }

    async def given_up(self, link: Link, attempt: int, provider: str) -> bool:
        if provider in editors.FREE:
            return await ledger.record(link.fetch, attempt, "cancelled", cost=Decimal(0), error="Its row had ended")
        return await ledger.record(
            link.fetch, attempt, "unknown", error_code="cancelled", error=CANCELLED, details=CODE
        )

    def works(self, link: Link) -> list[Periodic]:
        """For calls whose rows have ended, and whose workers with them."""

        async def run() -> None:
            for provider in LIMITS:
                for row in await ledger.left_open(link.fetch, JOBS, provider, STEP):
                    await self.given_up(link, row["attempt_id"], provider)

        return [Periodic("close edits nobody waits for", timedelta(minutes=1), run)]

    async def close(self) -> None:
        await self.editor.close()
        await self.strangers.close()


def examined(edited: Edited) -> Result:
    size, kind = opened(edited.data).size, sniff(edited.data)
    assert kind, "it was decoded"
    return Result(presentable(edited.data), kind, size)
