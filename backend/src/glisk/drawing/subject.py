"""For whom is it drawn? A token, whose author's prompt may be refused and replaced; or a job, whose user gets a plain answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from glisk.engine.claim import Claim
from glisk.settings import Settings
from glisk.workflows import TOKENS


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, and where it comes from: the author, the default, the fallback, or the user of a job."""

    prompt: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that was accepted and stored. `address` is the provider's, or ours where it has none."""

    key: str
    sha256: bytes
    mime: str
    address: str


class Subject(Protocol):
    @property
    def is_unique(self) -> bool:
        """No other may have the same picture."""

    def asked(self) -> Asked: ...

    def fallback(self) -> dict[str, Any] | None:
        """What to note before the fallback prompt is drawn. None: there is none, or it was drawn."""

    def facts(self, image: Image, source: str | None) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class TokenSubject:
    claim: Claim
    settings: Settings
    is_unique: bool = True

    def asked(self) -> Asked:
        row = self.claim.row
        if self.source == "fallback":
            return Asked(self.settings.fallback_prompt, "fallback")
        if row["prompt"] is None:
            return Asked(self.settings.default_prompt, "default")
        return Asked(row["prompt"], "author")

    @property
    def source(self) -> str:
        return str(self.claim.noted.get("prompt_source", self.claim.row["prompt_source"]))

    def fallback(self) -> dict[str, Any] | None:
        """It counts as an attempt, once in a claim."""
        spent = self.claim.row["generation_attempts"]
        return None if self.source == "fallback" else {"prompt_source": "fallback", "generation_attempts": spent + 1}

    def facts(self, image: Image, source: str | None) -> dict[str, Any]:
        stored = {"image_key": image.key, "image_sha256": image.sha256, "image_mime": image.mime}
        return {"image_url": image.address, "prompt_source": source, **stored}


@dataclass(frozen=True, slots=True)
class JobSubject:
    claim: Claim
    is_unique: bool = False

    @property
    def payload(self) -> dict[str, Any]:
        found: Any = msgspec.json.decode(self.claim.row["payload"])
        return found if isinstance(found, dict) else {}

    def asked(self) -> Asked:
        prompt = self.payload.get("prompt")
        return Asked(prompt if isinstance(prompt, str) else None, "user")

    def fallback(self) -> dict[str, Any] | None:
        return None

    def facts(self, image: Image, source: str | None) -> dict[str, Any]:
        """The payload keeps what the next step needs."""
        found = {"image_key": image.key, "image_mime": image.mime, "image_sha256": image.sha256.hex()}
        return {"payload": found, "result": found, "result_url": image.address, "output_r2_key": image.key}


def subject_of(claim: Claim, settings: Settings) -> Subject:
    return TokenSubject(claim, settings) if claim.workflow.table is TOKENS else JobSubject(claim)
