"""Takes the pictures in docs/screens from a running Glisk: python -m tests.browser.screenshots [URL] [FOLDER]"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.async_api import Browser, Page, async_playwright

from tests.browser import chromium

HERE = "http://127.0.0.1:8000"
FOLDER = Path(__file__).parents[3] / "docs" / "screens"
SIZES = {"wide": (1280, 800), "narrow": (360, 720)}
MAIN = ("gallery", "token")
OTHERS = ("pipeline", "failures", "jobs", "chain", "spend", "system", "author", "errors")
COLOURS = 256  # a picture with no more of them is a third of its size, and hardly anybody sees the difference
# Of those that are seen: others are loaded when one scrolls to them.
IS_LOADED = "() => [...document.images].every(each => each.complete || each.getBoundingClientRect().top > innerHeight)"
FIRST_PICTURE = ".card:has(img) >> nth=4 >> a"


@dataclass(frozen=True, slots=True)
class Shot:
    name: str
    path: str
    scheme: Literal["light", "dark"]
    size: Literal["wide", "narrow"]

    @property
    def file(self) -> str:
        kind = (
            ""
            if (self.scheme, self.size) == ("light", "wide")
            else f"-{self.scheme if self.size == 'wide' else self.size}"
        )
        return f"{self.name}{kind}.png"


def shots(token: str) -> list[Shot]:
    paths = {"gallery": "/", "token": token, **{name: f"/{name}" for name in OTHERS}, "jobs": "/j"}
    return [
        *(Shot(name, path, "light", "wide") for name, path in paths.items()),
        *(Shot(name, paths[name], "dark", "wide") for name in MAIN),
        *(Shot(name, paths[name], "light", "narrow") for name in MAIN),
    ]


async def take_all(address: str, folder: Path, browser: Browser) -> None:
    for shot in shots(await a_token(address, browser)):
        page = await opened(browser, shot)
        await take(page, address + shot.path, folder / shot.file)
        await page.context.close()


async def a_token(address: str, browser: Browser) -> str:
    """One that is drawn."""
    page = await browser.new_page()
    await page.goto(address)
    found = await page.locator(FIRST_PICTURE).get_attribute("href")
    await page.close()
    assert found
    return found


async def opened(browser: Browser, shot: Shot) -> Page:
    width, height = SIZES[shot.size]
    context = await browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=shot.scheme, reduced_motion="reduce", bypass_csp=True
    )
    return await context.new_page()


async def take(page: Page, address: str, file: Path) -> None:
    await page.goto(address)
    await page.wait_for_function(IS_LOADED)
    keep(await page.screenshot(), file)


def keep(shot: bytes, file: Path) -> None:
    with Image.open(BytesIO(shot)) as picture:
        whole = picture.convert("RGB")
        palette = whole.quantize(COLOURS, Image.Quantize.MEDIANCUT)
        whole.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(file, optimize=True)
    print(f"{file.stat().st_size >> 10:4} kB  {file.name}")


def main(arguments: Sequence[str]) -> None:
    address, folder = [*arguments, *(HERE, str(FOLDER))[len(arguments) :]]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, chromium.running(Path(profile)) as url:
        asyncio.run(driven(url, address, Path(folder)))


async def driven(url: str, address: str, folder: Path) -> None:
    async with async_playwright() as playwright:
        await take_all(address, folder, await playwright.chromium.connect_over_cdp(url))


if __name__ == "__main__":
    main(sys.argv[1:])
