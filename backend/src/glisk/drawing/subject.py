"""For whom is it drawn? A token, whose author's prompt may be refused and replaced; or a job, whose user gets a plain answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Protocol

from glisk.drawing.wanted import NO_PROMPT, Wanted, wanted_in
from glisk.engine.claim import Claim
from glisk.engine.ledger import Attempt
from glisk.prompts import prompt_problem
from glisk.providers import chosen
from glisk.providers.port import Lora, Order
from glisk.settings import Settings
from glisk.workflows import TOKENS

WITHOUT_LORA = "Whoever draws here draws without LoRA weights: this picture was drawn without them"


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, and where it comes from: the author, the default, the fallback, or the user of a job. Without a seed, any will do."""

    prompt: str | None
    source: str
    seed: int | None = None

    def problem(self) -> str | None:
        found = prompt_problem(self.prompt)
        return found and f"The prompt cannot be drawn: {found}"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that was accepted and stored. `address` is the provider's, or ours where it has none; `own` is ours, and lasts."""

    key: str
    sha256: bytes
    mime: str
    address: str
    own: str


class Subject(Protocol):
    @property
    def is_unique(self) -> bool:
        """No other may have the same picture."""

    def problem(self) -> str | None:
        """Why it cannot be drawn at all, asked before anybody is paid."""

    def asked(self) -> Asked: ...

    def order(self, attempt: Attempt) -> Order:
        """As it was first asked for, also when it is resumed."""

    def fallback(self) -> dict[str, Any] | None:
        """What to note before the fallback prompt is drawn. None: there is none, or it was drawn."""

    def facts(self, image: Image, attempt: Attempt) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class TokenSubject:
    claim: Claim
    settings: Settings
    is_unique: bool = True

    def problem(self) -> str | None:
        return self.asked().problem()

    def order(self, attempt: Attempt) -> Order:
        return Order(attempt.prompt or "", attempt.seed or 0, *chosen.size(self.settings))

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

    def facts(self, image: Image, attempt: Attempt) -> dict[str, Any]:
        stored = {"image_key": image.key, "image_sha256": image.sha256, "image_mime": image.mime}
        return {"image_url": image.address, "prompt_source": attempt.prompt_source, **stored}


@dataclass(frozen=True, slots=True)
class JobSubject:
    claim: Claim
    wanted: Wanted
    size: tuple[int, int]
    now: Callable[[], datetime]
    takes_lora: bool
    is_unique: bool = False

    def problem(self) -> str | None:
        return self.asked().problem() if self.wanted.prompt else NO_PROMPT

    def asked(self) -> Asked:
        return Asked(self.wanted.prompt, "user", self.seed)

    @property
    def seed(self) -> int:
        """By the job's own id, which is random, where none was asked for: so every try of it has the same."""
        drawn = int.from_bytes(sha256(self.claim.row["job_id"].bytes).digest()[:4]) >> 1
        return drawn if self.wanted.seed is None else self.wanted.seed

    def order(self, attempt: Attempt) -> Order:
        return Order(attempt.prompt or "", attempt.seed or 0, *self.sides, self.wanted.steps, self.lora)

    @property
    def lora(self) -> Lora | None:
        """Only what a step before this one has fetched; whoever wrote one into the payload of another job is not heard."""
        found, steps = self.wanted.lora, self.claim.workflow.steps.values()
        if found is None or not any(step.process == "downloading-lora" for step in steps):
            return None
        return Lora(found.name, found.url, found.weight)

    @property
    def sides(self) -> tuple[int, int]:
        return self.wanted.width or self.size[0], self.wanted.height or self.size[1]

    def fallback(self) -> dict[str, Any] | None:
        return None

    def facts(self, image: Image, attempt: Attempt) -> dict[str, Any]:
        """The payload keeps what the next step needs. The provider's own address ends within the hour, so ours is told."""
        order = self.order(attempt)
        params = {"width": order.width, "height": order.height, "steps": order.steps, "seed": order.seed}
        made = {"prompt_used": order.prompt, "generation_params": params, "generated_at": self.now().isoformat()}
        kept = {"image_key": image.key, "image_mime": image.mime, "image_sha256": image.sha256.hex()}
        found = {"image_url": image.own, "image_data": image.key, **made, **kept, **self.about_lora()}
        at = {"result_url": image.own, "output_r2_key": image.key, "progress": self.claim.percent(1)}
        return {"payload": found, "result": found, **at}

    def about_lora(self) -> dict[str, Any]:
        """Nobody should take a picture for one that was drawn with their weights."""
        if self.lora is None:
            return {}
        return {"lora_applied": True} if self.takes_lora else {"lora_applied": False, "notice": WITHOUT_LORA}


def now() -> datetime:
    return datetime.now(UTC)


def subject_of(claim: Claim, settings: Settings, *, takes_lora: bool) -> Subject:
    """`takes_lora`: whether whoever draws can use weights of somebody's own. Raises Unfit for a job that asks for what nobody can draw."""
    if claim.workflow.table is TOKENS:
        return TokenSubject(claim, settings)
    return JobSubject(claim, wanted_in(claim.row["payload"]), chosen.size(settings), now, takes_lora)
