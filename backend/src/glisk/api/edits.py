"""What somebody asks for who wants a picture edited (seed 002's request), as a job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Request
from msgspec import Meta, Struct

from glisk.api.access import Visitor
from glisk.api.given import Pictures
from glisk.editing.request import LONGEST_PROMPT, MOST_REGIONS, MOST_SAMPLES
from glisk.errors import BadQuery
from glisk.prompts import prompt_problem
from glisk.storage.keys import SHAPE

A_PICTURE = "a picture: a data URL, an http(s) address, or the key of one that is yours"
ProjectType = Literal["existing", "new_build", "architectural_drawing"]
Kind = Annotated[ProjectType | None, Meta(description="existing, new_build, architectural_drawing or null")]
Picture = Annotated[str, Meta(min_length=1, description=A_PICTURE)]
EXAMPLE: dict[str, Any] = {
    "projectId": "6f1c1f0e-7c0b-4f55-9d0c-3a1e0d1f2a3b",
    "prompt": "apply brick in sample 1 to red area",
    "samples": [{"name": "Brick", "url": "https://example.com/brick.png"}],
    "mask": "data:image/png;base64,iVBORw0KGgo…",
    "maskRegions": None,
    "inputImageUrl": None,
}


class Sample(Struct, frozen=True):
    url: Picture
    name: Annotated[str, Meta(max_length=200, description="at most 200 characters")] | None = None


class MaskRegion(Struct, frozen=True, rename="camel"):
    sample_index: Annotated[int, Meta(ge=0, description="the number of a sample, from 0")]
    mask: Picture


class Wish(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An edit. `mask` says where; `maskRegions` which sample goes where; `inputImageUrl` takes the place of the project's picture."""

    project_id: Annotated[UUID, Meta(description="a project's id")]
    prompt: Annotated[str, Meta(description=f"a text of 1 to {LONGEST_PROMPT} characters")]
    samples: (
        Annotated[list[Sample], Meta(max_length=MOST_SAMPLES, description=f"a list of at most {MOST_SAMPLES} samples")]
        | None
    ) = None
    mask: Picture | None = None
    mask_regions: (
        Annotated[
            list[MaskRegion], Meta(max_length=MOST_REGIONS, description=f"a list of at most {MOST_REGIONS} regions")
        ]
        | None
    ) = None
    input_image_url: Picture | None = None
    project_type: Kind = None


def require_sound(wish: Wish) -> None:
    if problem := prompt_problem(wish.prompt, LONGEST_PROMPT):
        raise BadQuery(f"prompt: {problem}.")
    for n, region in enumerate(wish.mask_regions or ()):
        if region.sample_index >= len(wish.samples or ()):
            raise BadQuery(f"maskRegions[{n}].sampleIndex: there is no such sample.")


@dataclass(slots=True)
class Payload:
    """What the worker is given, with pictures in their places. `inputs`: those that are objects of ours."""

    pictures: Pictures
    request: Request
    visitor: Visitor
    inputs: list[str] = field(default_factory=list)

    async def of(self, wish: Wish) -> dict[str, Any]:
        samples = [
            {"name": each.name, "url": await self.place(f"samples[{n}].url", each.url)}
            for n, each in enumerate(wish.samples or ())
        ]
        regions = [
            {"sampleIndex": each.sample_index, "mask": await self.place(f"maskRegions[{n}].mask", each.mask)}
            for n, each in enumerate(wish.mask_regions or ())
        ]
        return {
            "prompt": wish.prompt,
            "samples": samples,
            "mask": wish.mask and await self.place("mask", wish.mask),
            "maskRegions": regions,
            "inputImageUrl": wish.input_image_url and await self.place("inputImageUrl", wish.input_image_url),
            "projectType": wish.project_type,
        }

    async def place(self, name: str, given: str) -> str:
        found = await self.pictures.place(self.request, self.visitor, name, given)
        if SHAPE.fullmatch(found):
            self.inputs.append(found)
        return found
