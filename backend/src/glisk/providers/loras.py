"""LoRA weights that people name: fetched once, checked, and kept under the hash of their content."""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from glisk.providers import safetensors
from glisk.providers.strangers import FetchLimits, Strangers

SUFFIX = ".safetensors"
SECONDS = 600.0
KEPT = 8  # times the largest one that is taken: what was used longest ago goes first


class BadLora(ValueError):
    """In words for whoever named it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The hash is the name of its file, by which a web UI knows it."""

    sha256: str
    size: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Loras:
    """`directory`: one file for each, and beside them one for each address that is known, with the hash of what was there."""

    directory: Path
    most_bytes: int
    strangers: Strangers

    async def kept(self, url: str, wanted: str | None = None) -> Kept:
        """Raises BadLora, a FetchError, or an OSError if there is no room."""
        if found := await asyncio.to_thread(self.found, url, wanted):
            return found
        self.directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.directory, prefix="part-") as aside:
            part = Path(aside) / "weights"
            digest = await self.fetched(url, part)
            return await asyncio.to_thread(self.taken, url, wanted, part, digest)

    async def fetched(self, url: str, part: Path) -> str:
        """Its hash."""
        digest = sha256()
        with part.open("wb") as file:  # written in small parts, as they come: a thread for each would take longer

            def take(data: bytes) -> None:
                digest.update(data)
                file.write(data)

            await self.strangers.save(url, FetchLimits(self.most_bytes, SECONDS), take)
        return digest.hexdigest()

    def taken(self, url: str, wanted: str | None, part: Path, digest: str) -> Kept:
        if wanted and wanted != digest:
            raise BadLora(f"The weights have the hash {digest}, and not {wanted}")
        if problem := safetensors.problem(part):
            raise BadLora(f"These are no LoRA weights: {problem}")
        os.replace(part, self.file(digest))
        self.known(url).write_text(digest)
        self.prune(self.file(digest))
        return Kept(digest, self.file(digest).stat().st_size, is_new=True)

    def found(self, url: str, wanted: str | None) -> Kept | None:
        """By its hash; without one, as it was when the address was last fetched."""
        known = self.known(url)
        digest = wanted or (known.read_text() if known.exists() else "")
        if not digest or not (file := self.file(digest)).exists():
            return None
        os.utime(file)
        return Kept(digest, file.stat().st_size, is_new=False)

    def prune(self, newest: Path) -> None:
        files = sorted(self.directory.glob(f"*{SUFFIX}"), key=lambda file: file.stat().st_mtime, reverse=True)
        room = self.most_bytes * KEPT - newest.stat().st_size
        for file in (file for file in files if file != newest):
            room -= file.stat().st_size
            if room < 0:
                file.unlink(missing_ok=True)

    def file(self, digest: str) -> Path:
        return self.directory / f"{digest}{SUFFIX}"

    def known(self, url: str) -> Path:
        return self.directory / f"{sha256(url.encode()).hexdigest()[:32]}.url"
