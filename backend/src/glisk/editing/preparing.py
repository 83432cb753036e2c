"""Puts an edit together: pictures fetched and decoded, masks read at the base's size, and what the model is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from PIL import Image

from glisk.editing import prompt
from glisk.editing.prompt import Area
from glisk.editing.request import Request
from glisk.editing.sources import Sources
from glisk.errors import EditUnusable
from glisk.images import masks
from glisk.images.look import flattened
from glisk.images.masks import Mask
from glisk.images.opened import opened
from glisk.providers.editor import Edit, Region, Sample

T = TypeVar("T")
LARGEST_SAMPLE = 1024  # pixels a side: a material needs no more


@dataclass(frozen=True, slots=True)
class Project:
    """What the job belongs to: its picture, wherever that is, and what kind of project it is."""

    original: str | None
    type: str | None


async def prepared(sources: Sources, request: Request, project: Project) -> Edit:
    place = request.input_image_url or project.original
    if not place:
        raise EditUnusable(
            "There is nothing to edit: the project has no original image, and no inputImageUrl was given"
        )
    base = await picture(sources, place, "The picture to edit", flattened)
    samples = [await sample(sources, n, request) for n in range(len(request.samples or ()))]
    regions = await regions_of(sources, request, base.size)
    told = prompt.built(
        request.prompt or "",
        project.type or request.project_type,
        [found.name for found in samples],
        [area(region) for region in regions],
    )
    return Edit(request.prompt or "", told, base, tuple(regions), tuple(samples))


async def sample(sources: Sources, n: int, request: Request) -> Sample:
    given = (request.samples or ())[n]
    return Sample(given.name or "", await picture(sources, given.url, f"Sample {n + 1}", small))


def small(image: Image.Image) -> Image.Image:
    found = flattened(image)
    found.thumbnail((LARGEST_SAMPLE, LARGEST_SAMPLE))
    return found


async def regions_of(sources: Sources, request: Request, size: masks.Size) -> list[Region]:
    """First the one mask for all, then those of the samples. One mask and one sample belong together."""
    found = []
    if request.mask:
        only = 0 if len(request.samples or ()) == 1 else None
        found.append(Region(await mask(sources, request.mask, "The mask", size), only))
    for n, given in enumerate(request.mask_regions or ()):
        found.append(Region(await mask(sources, given.mask, f"maskRegions[{n}]", size), given.sample_index))
    return found


async def mask(sources: Sources, place: str, what: str, size: masks.Size) -> Mask:
    found = await picture(sources, place, what, lambda image: masks.read(image, size))
    if masks.is_empty(found):
        raise EditUnusable(f"{what} leaves nothing to edit: nothing in it is transparent, or bright")
    return found


async def picture(sources: Sources, place: str, what: str, seen: Callable[[Image.Image], T]) -> T:
    data = await sources.data(place, what)
    try:
        return await asyncio.to_thread(lambda: seen(opened(data)))
    except ValueError as error:
        raise EditUnusable(f"{what} cannot be used: {error}") from error


def area(region: Region) -> Area:
    found = masks.box(region.mask)
    assert found, "an empty mask was refused"
    return Area(found, region.sample)
