"""The last look before a picture is taken: a provider's "succeeded" says nothing of what it drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from PIL import Image

from glisk.images import fingerprint
from glisk.images.container import Container, container
from glisk.images.fingerprint import Fingerprint
from glisk.images.flaws import Flaw, flaw
from glisk.images.look import flattened, look
from glisk.images.opened import loaded
from glisk.images.part import Part

Verdict: TypeAlias = Literal["pass", "regenerate", "quarantine"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """`regenerate`: certainly broken. `quarantine`: a person should look. `reason` is a sentence for that person; the
    fingerprint is there when the picture could be decoded."""

    verdict: Verdict
    reason: str
    fingerprint: Fingerprint | None = None


def judge(data: bytes, width: int, height: int) -> Judgement:
    try:
        format = container(data)
        parts = format.parts(data)
        image = decoded(format, parts)
    except ValueError as broken:
        return Judgement("regenerate", f"{broken}.")
    seen = look(image)
    known = fingerprint.of(seen)
    found = flaw(seen) or misfit(image.size, (width, height)) or motion(format.is_still(parts))
    if found is None:
        return Judgement("pass", "The picture is sound.", known)
    return Judgement(found.consequence, found.reason, known)


def misfit(size: tuple[int, int], asked: tuple[int, int]) -> Flaw | None:
    """Not drawn again: the same model would be paid for the same size."""
    seen, wanted = (f"{width} × {height}" for width, height in (size, asked))
    return Flaw("quarantine", f"The picture is {seen}, not {wanted} as asked.") if size != asked else None


def motion(is_still: bool) -> Flaw | None:
    return None if is_still else Flaw("quarantine", "The picture moves; only its first frame was looked at.")


def decoded(format: Container, parts: list[Part]) -> Image.Image:
    """In RGB."""
    return flattened(loaded(format, parts))
