"""How a part is looked at: within a time limit, whatever happens, and without telling a secret."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import asyncpg
from msgspec import Struct
from pydantic import SecretStr

from glisk.engine.link import LinkLost
from glisk.errors import GliskError
from glisk.settings import Settings

State: TypeAlias = Literal["ok", "warning", "broken"]
Kind: TypeAlias = Literal["embedded", "real", ""]

LIMIT_S = 10.0
SHORTEST_SECRET = 4
A_URL_WITH_PASSWORD = re.compile(r"(\w+://)[^/@\s]*:[^/@\s]*@")
LATE = "Find out what holds it up: is it there, is it overloaded, does a firewall swallow what we send?"
STRANGE = "Run it once more; if it stays so, report it with what stands here."


class Check(Struct, frozen=True):
    """One part. `variable` is the setting that makes it real, or that it hangs on."""

    part: str
    state: State
    kind: Kind
    seen: str
    variable: str
    fix: str
    ms: float


class Finding(Struct, frozen=True):
    state: State
    seen: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """`settings` as they were given; `filled`, with the embedded chain in them, if it runs for us."""

    settings: Settings
    filled: Settings
    url: str


@dataclass(frozen=True, slots=True)
class Probe:
    part: str
    look: Callable[[], Awaitable[Finding]]
    kind: Kind = ""
    variable: str = ""


def ok(seen: str) -> Finding:
    return Finding("ok", seen)


async def looked_at(probe: Probe, patient: Patient) -> Check:
    watch = Watch()
    (found,) = await asyncio.gather(watch.over(probe.look), return_exceptions=True)
    finding = found if isinstance(found, Finding) else trouble(found)
    hidden = secrets_of(patient)
    seen, fix = without(hidden, finding.seen), without(hidden, finding.fix)
    return Check(probe.part, finding.state, probe.kind, seen, probe.variable, fix, round(watch.seconds * 1000, 1))


class Watch:
    """From when the look begins until it ends: not from when it was asked for, which others who look may delay."""

    seconds = 0.0

    async def over(self, look: Callable[[], Awaitable[Finding]]) -> Finding:
        began = time.monotonic()
        try:
            async with asyncio.timeout(LIMIT_S):
                return await look()
        finally:
            self.seconds = time.monotonic() - began


def trouble(error: BaseException) -> Finding:
    if isinstance(error, GliskError):
        return Finding("broken", f"{error.code}: {error}", error.fix)
    if isinstance(error, asyncpg.UndefinedTableError | asyncpg.UndefinedColumnError):
        return Finding("warning", "It cannot be seen before the schema is migrated.", "glisk migrate")
    if isinstance(error, LinkLost):
        return Finding("broken", f"The database cannot be reached: {error}", "Start it, or correct GLISK_DATABASE_URL.")
    if isinstance(error, TimeoutError):
        return Finding("broken", f"It did not answer within {LIMIT_S:g} s.", LATE)
    return Finding("broken", f"{type(error).__name__}: {error}", STRANGE)


def secrets_of(patient: Patient) -> Sequence[str]:
    """The longest first: one may be a part of another."""
    found = {patient.url}
    for settings in (patient.settings, patient.filled):
        values = [getattr(settings, name) for name in type(settings).model_fields]
        given = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        found |= {part for value in given for part in (value, *value.split(",")) if len(part) >= SHORTEST_SECRET}
    return sorted(found, key=len, reverse=True)


def without(secrets: Sequence[str], text: str) -> str:
    """On one line, too."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return re.sub(r"\s+", " ", A_URL_WITH_PASSWORD.sub(r"\1***@", text)).strip()


def nearest(path: Path) -> Path:
    """It, or the first directory above it that is there."""
    return next((found for found in (path, *path.parents) if found.exists()), Path("/"))
