"""What a model is told: the user's wish, which picture is which, which sample goes where, and what must stay as it is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glisk.images.colours import COLOR_NAMES
from glisk.images.masks import Box

LONGEST_NAME = 80
CONSTRAINTS = (
    "Change only what is asked for; inside the mask where there is one, and nothing outside of it.",
    "Keep the camera, the perspective, the crop, the proportions and every edge of the building where they are.",
    "Keep the light: shadows, reflections and the time of day stay, and fall on the new material too.",
    "Show a sample's material, colour and pattern as they are, at a scale that is true to the building.",
    "A plain border around picture 1 is not part of it, is not measured with it, and stays as it is.",
    "Add no text, no watermark, no people, and nothing else that was not asked for.",
)
PROJECTS = {
    "existing": "It is a photograph of an existing building: the result must look like the same photograph after the work is done.",
    "new_build": "It shows a new building: the result must look like a photograph of it when it is finished.",
    "architectural_drawing": "It is an architectural drawing: follow its lines and measures exactly, and show what is asked for as it would be built.",
}


@dataclass(frozen=True, slots=True)
class Area:
    """Where, and which sample goes there, if it is known."""

    box: Box
    sample: int | None = None


def built(wish: str, project_type: str | None, samples: Sequence[str], areas: Sequence[Area]) -> str:
    """Users call the areas by the colours they painted them in, which the mask does not have: so they are named in that order."""
    parts = [
        wish.strip(),
        " ".join(["Picture 1 is the one to edit.", PROJECTS.get(project_type or "", "")]).strip(),
        "\n".join(f"Picture {n + 2} is sample {n + 1}: {titled(name)}." for n, name in enumerate(samples)),
        "\n".join(told(n, area) for n, area in enumerate(areas)),
        a_map(len(samples) + 2) if len(areas) > 1 else "",
        "\n".join(f"- {rule}" for rule in CONSTRAINTS),
    ]
    return "\n\n".join(part for part in parts if part)


def titled(name: str) -> str:
    """On one line, and not longer than a name is."""
    return " ".join(name.split())[:LONGEST_NAME].strip() or "a material"


def told(n: int, area: Area) -> str:
    box, colour = area.box, list(COLOR_NAMES)[n]
    where = f"from {box.left}% to {box.right}% of the width and {box.top}% to {box.bottom}% of the height"
    what = "" if area.sample is None else f": sample {area.sample + 1} goes there"
    return f"Area {n + 1}, the {colour} area, lies {where}{what}."


def a_map(picture: int) -> str:
    return f"Picture {picture} is a map: it shows each area of picture 1 under its colour. Those colours are not part of the result."
