"""The sheet on which a picture goes to OpenAI and comes back: of a shape that it draws, with the picture whole and undistorted on it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

from PIL import Image, ImageStat

from glisk.images.masks import Mask, resized, softened

Size: TypeAlias = tuple[int, int]

SIZES: tuple[Size, ...] = ((1024, 1024), (1536, 1024), (1024, 1536))
LARGEST = 2048  # pixels a side: it works on less, and more would only be sent


@dataclass(frozen=True, slots=True)
class Canvas:
    """`drawn`: the size that is asked for. `size`: of the sheet that is sent, in the same shape. `place`: where the picture lies on it."""

    drawn: Size
    size: Size
    place: tuple[int, int, int, int]

    @property
    def inner(self) -> Size:
        left, top, right, bottom = self.place
        return right - left, bottom - top

    def laid(self, picture: Image.Image) -> Image.Image:
        """With a plain border in the picture's own mean colour."""
        mean = ImageStat.Stat(picture).mean
        sheet = Image.new("RGB", self.size, (int(mean[0]), int(mean[1]), int(mean[2])))
        sheet.paste(picture.resize(self.inner), self.place)
        return sheet

    def masked(self, mask: Mask) -> Mask:
        """The border is not to change."""
        sheet = Image.new("L", self.size, 0)
        sheet.paste(resized(mask, self.inner), self.place)
        return sheet

    def taken(self, answer: Image.Image, base: Image.Image, mask: Mask | None) -> Image.Image:
        """The picture without the border. A mask is only a hint to the model, so what is outside of it is put back as it was."""
        across, down = answer.width / self.size[0], answer.height / self.size[1]
        left, top = int(self.place[0] * across), int(self.place[1] * down)
        right, bottom = ceil(self.place[2] * across), ceil(self.place[3] * down)
        found = answer.convert("RGB").crop((left, top, max(right, left + 1), max(bottom, top + 1)))
        if mask is None:
            return found
        return Image.composite(found.resize(base.size), base, softened(mask))


def canvas_for(size: Size) -> Canvas:
    """In the likest shape of those it draws, and no larger than it must be."""
    width, height = size
    drawn = min(
        SIZES, key=lambda known: max(width * known[1] / height / known[0], known[0] * height / known[1] / width)
    )
    whole = max(width, height * drawn[0] / drawn[1]), max(height, width * drawn[1] / drawn[0])
    scale = min(1.0, LARGEST / max(whole))
    sheet = max(1, round(whole[0] * scale)), max(1, round(whole[1] * scale))
    inner = min(sheet[0], max(1, round(width * scale))), min(sheet[1], max(1, round(height * scale)))
    left, top = (sheet[0] - inner[0]) // 2, (sheet[1] - inner[1]) // 2
    return Canvas(drawn, sheet, (left, top, left + inner[0], top + inner[1]))
