"""What a job asks for (seed 002's payload): read, and refused in words for the user where it cannot be."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from glisk.errors import EditUnusable
from glisk.images.colours import COLOR_NAMES
from glisk.prompts import prompt_problem

LONGEST_PROMPT = 4000  # code points
MOST_SAMPLES = 10  # a model takes 16 pictures, one of them the base and one the map
MOST_REGIONS = len(COLOR_NAMES) - 1  # each is known by a colour; one is left for the mask
PROJECT_TYPES = ("existing", "new_build", "architectural_drawing")


class GivenSample(Struct, frozen=True):
    url: str
    name: str | None = None


class MaskRegion(Struct, frozen=True, rename="camel"):
    sample_index: int
    mask: str


class Request(Struct, frozen=True, rename="camel"):
    """A picture is given as a data URL, as an http(s) URL, or as the key of an object of ours."""

    prompt: str | None = None
    samples: tuple[GivenSample, ...] | None = None
    mask: str | None = None
    mask_regions: tuple[MaskRegion, ...] | None = None
    input_image_url: str | None = None
    project_type: str | None = None


def read(payload: str | bytes) -> Request:
    try:
        request = msgspec.json.decode(payload, type=Request)
    except msgspec.MsgspecError as error:
        raise EditUnusable(f"The request cannot be read: {error}") from error
    for problem in problems(request):
        raise EditUnusable(problem)
    return request


def problems(request: Request) -> list[str]:
    samples, regions = request.samples or (), request.mask_regions or ()
    found: list[Any] = []
    if problem := prompt_problem(request.prompt, LONGEST_PROMPT):
        found.append(f"The prompt cannot be used: {problem}")
    if len(samples) > MOST_SAMPLES:
        found.append(f"There are {len(samples)} samples, and {MOST_SAMPLES} are allowed")
    if len(regions) > MOST_REGIONS:
        found.append(f"There are {len(regions)} maskRegions, and {MOST_REGIONS} are allowed")
    if request.project_type and request.project_type not in PROJECT_TYPES:
        found.append(f"projectType is one of {', '.join(PROJECT_TYPES)}, not {request.project_type[:50]!r}")
    return [*found, *(strays(n, region, len(samples)) for n, region in enumerate(regions) if is_stray(region, samples))]


def is_stray(region: MaskRegion, samples: tuple[GivenSample, ...]) -> bool:
    return not 0 <= region.sample_index < len(samples)


def strays(n: int, region: MaskRegion, count: int) -> str:
    return f"maskRegions[{n}] names sample {region.sample_index}, and there are {count}, counted from 0"
