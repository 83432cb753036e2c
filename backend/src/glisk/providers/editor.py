"""The port to whoever edits pictures: an edit in, a picture out, or one of the errors under ProviderError."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from PIL import Image

from glisk.images import masks
from glisk.images.masks import Mask


@dataclass(frozen=True, slots=True)
class Sample:
    """What is to be put somewhere: a brick, a tile, a colour of paint."""

    name: str
    picture: Image.Image


@dataclass(frozen=True, slots=True)
class Region:
    """Where, as a mask of the base's size; and which of the samples goes there, if it is known."""

    mask: Mask
    sample: int | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """`wish`: in the user's own words; `prompt`: with all that a model must be told besides. Without regions all of it may change."""

    wish: str
    prompt: str
    base: Image.Image
    regions: tuple[Region, ...] = ()
    samples: tuple[Sample, ...] = ()

    def mask(self) -> Mask | None:
        return masks.merged((region.mask for region in self.regions), self.base.size) if self.regions else None


@dataclass(frozen=True, slots=True)
class Edited:
    """A picture that can be decoded, what it cost, and what the editor said besides."""

    data: bytes
    cost: Decimal | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Editor(Protocol):
    """Edits once, when it is asked. None of them knows an order again: who asks twice pays twice. What is outside of the regions comes
    back as it was, to the pixel."""

    name: str
    model: str

    async def edit(self, edit: Edit) -> Edited: ...

    async def close(self) -> None: ...
