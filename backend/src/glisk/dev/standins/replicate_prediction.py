"""A prediction: what is known of it, and how Replicate shows it."""

from __future__ import annotations

import asyncio
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from glisk.dev.standins.replicate_models import Model, size
from glisk.dev.standins.scenario import Scenario
from glisk.dev.standins.timeline import A_SECOND, stamp

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
KEPT = 3600 * A_SECOND  # input, output, logs and files, after the end
# What predictions fail with, by a short name. The first three are refusals of the prompt: nothing was made, nothing is charged.
FAILURES = {
    "nsfw": "NSFW content detected. Try running it again, or try a different prompt.",
    "all_nsfw": "All generated images contained NSFW content. Try running it again with a different prompt.",
    "sensitive": "The input or output was flagged as sensitive. Please try again with different inputs. (E005)",
    "interrupted": "Prediction interrupted; please retry (code: PA)",
    "director": "Director: unexpected error handling prediction (E9828)",
    "overload": "Service is currently unavailable due to high demand. Please try again later. (E003)",
}
USUAL_EVENTS = ("output", "completed")  # that a webhook is called for
POLICY = ("NSFW content", "flagged as sensitive", "(E005)")


class Status(StrEnum):
    STARTING = "starting"
    PROCESSING = "processing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    ABORTED = "aborted"  # its deadline passed before it started

    @property
    def is_final(self) -> bool:
        return self not in (Status.STARTING, Status.PROCESSING)


class Plan(Scenario, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What Replicate's calls can be told besides what every stand-in's can."""

    detail: str | None = None  # of the problem with `status_code`
    starts_after_s: float | None = 0.0  # None: not before it is told to go on
    runs_for_s: float | None = 0.0
    listed_after_s: float = 0.0  # until then it is missing in lists
    ends_as: Status = Status.SUCCEEDED
    fail: str | None = None  # a name in FAILURES, or any text
    charged: bool | None = None
    output: Literal["list", "string", "none"] | None = None
    output_as: Literal["url", "data"] = "url"
    nsfw_dropped: int = 0  # so many pictures are missing in the list
    picture: str = ""  # one that was uploaded
    says: str | None = None  # of a model that answers with words
    blocking: Literal["processing", "succeeded"] = "processing"  # what a caller who waited reads of a finished one
    webhook: Literal["once", "never", "twice", "reversed"] = "once"
    webhook_after_s: float = 0.0
    download: Literal["trickle", "truncated", "oversized", "html"] | None = None
    pause_s: float = 0.5  # between the sips of a trickle
    size_bytes: int = 64 * 1024 * 1024  # of an oversized download

    @property
    def early(self) -> Status | None:
        """The end that a waiting caller is told of before it is written down."""
        return Status.SUCCEEDED if self.blocking == "processing" else None

    @property
    def error(self) -> str | None:
        return None if self.fail is None else FAILURES.get(self.fail, self.fail)

    @property
    def is_charged(self) -> bool:
        is_refusal = self.error is not None and any(text in self.error for text in POLICY)
        return not is_refusal if self.charged is None else self.charged


@dataclass(slots=True)
class Prediction:
    id: str
    number: int
    model: Model
    version: str
    input: dict[str, Any]
    plan: Plan
    created_at: int
    deadline: int | None = None
    webhook: str = ""
    events: tuple[str, ...] = USUAL_EVENTS
    deployment: str | None = None
    status: Status = Status.STARTING
    started_at: int | None = None
    completed_at: int | None = None
    output: Any = None
    error: str | None = None
    logs: str = ""
    is_charged: bool = False
    watchers: list[asyncio.Event] = field(default_factory=list)
    order: asyncio.Lock = field(default_factory=asyncio.Lock)  # of its webhooks

    @property
    def prompt(self) -> str:
        return str(self.input.get("prompt", ""))

    @property
    def seed(self) -> int | None:
        seed = self.input.get("seed")
        return seed if isinstance(seed, int) else None

    @property
    def drawn_seed(self) -> int:
        """A model that is given none takes one."""
        return zlib.crc32(self.id.encode()) % 2**31 if self.seed is None else abs(self.seed)

    @property
    def format(self) -> str:
        return str(self.input.get("output_format") or self.model.format)

    @property
    def size(self) -> tuple[int, int]:
        return size(self.input)

    def is_removed(self, now: int) -> bool:
        return self.completed_at is not None and now - self.completed_at >= KEPT


def shown(prediction: Prediction, now: int, url: str, *, digits: int = 6) -> dict[str, Any]:
    """What has not happened yet has no key."""
    is_removed = prediction.is_removed(now)
    moments = {name: getattr(prediction, name) for name in ("started_at", "completed_at", "deadline")}
    return {
        "id": prediction.id,
        "model": prediction.model.name,
        "version": prediction.version,
        "input": {} if is_removed else prediction.input,
        "logs": None if is_removed else prediction.logs,
        "output": None if is_removed else prediction.output,
        "data_removed": is_removed,
        "error": prediction.error,
        "status": prediction.status,
        "created_at": stamp(prediction.created_at, digits),
        **{name: stamp(moment) for name, moment in moments.items() if moment is not None},
        **({"deployment": prediction.deployment} if prediction.deployment else {}),
        **({"metrics": metrics(prediction)} if prediction.status.is_final else {}),
        "urls": urls(prediction.id, url),
    }


def row(prediction: Prediction, now: int, url: str) -> dict[str, Any]:
    """As lists show it: without its logs."""
    whole = shown(prediction, now, url)
    return {**{name: value for name, value in whole.items() if name != "logs"}, "source": "api"}


def blocking(prediction: Prediction, now: int, url: str) -> dict[str, Any]:
    """Who waited is answered before the end is written down: an output, but «processing», and none of its times.
    Who waited in vain reads «starting», whatever it does by then."""
    whole = shown(prediction, now, url)
    status = Status.PROCESSING if prediction.status.is_final else Status.STARTING
    early = {"status": status, "logs": "", "output": prediction.output if prediction.status.is_final else None}
    late = ("started_at", "completed_at", "metrics")
    return {**{name: value for name, value in whole.items() if name not in late}, **early}


def metrics(prediction: Prediction) -> Mapping[str, float]:
    ended = prediction.completed_at or 0
    ran = {} if prediction.started_at is None else {"predict_time": (ended - prediction.started_at) / A_SECOND}
    return {**ran, "total_time": (ended - prediction.created_at) / A_SECOND}


def urls(id: str, url: str) -> Mapping[str, str]:
    return {
        "cancel": f"{url}/v1/predictions/{id}/cancel",
        "get": f"{url}/v1/predictions/{id}",
        "stream": f"{url}/v1/streams/{id}",
        "web": f"https://replicate.com/p/{id}",
    }


def an_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(26))
