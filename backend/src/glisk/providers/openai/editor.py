"""OpenAI's Images Edits: one call edits and answers with the picture. It is made once: there is no id to ask after later."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from typing import TypeAlias

import httpx
from PIL import Image

from glisk.errors import ProviderFailed
from glisk.images import masks
from glisk.images.colours import COLOR_NAMES
from glisk.images.opened import as_png, opened
from glisk.providers.editor import Edit, Edited
from glisk.providers.openai import classify
from glisk.providers.openai.canvas import Canvas, canvas_for
from glisk.providers.openai.prices import charged, usage_in
from glisk.providers.openai.reaching import Terms, client

PATH = "/v1/images/edits"
NAME = "openai"
TRUE_TO_DETAIL = ("gpt-image-1", "gpt-image-1.5")  # the others refuse the parameter
File: TypeAlias = tuple[str, tuple[str, bytes, str]]


class OpenAIEditor:
    name = NAME

    def __init__(self, terms: Terms) -> None:
        self.terms, self.model = terms, terms.model
        self.patience_s = terms.patience.total_seconds()
        self.client = client(terms)

    async def edit(self, edit: Edit) -> Edited:
        canvas = canvas_for(edit.base.size)
        files = await asyncio.to_thread(files_of, edit, canvas)
        response = await self.answer_to(fields(self.model, edit.prompt, canvas), files)
        if not response.is_success:
            raise classify.answer(response)
        return await self.edited(response, edit, canvas)

    async def answer_to(self, data: dict[str, str], files: list[File]) -> httpx.Response:
        """Never twice, whatever happens."""
        try:
            async with asyncio.timeout(self.patience_s):  # httpx would count from every byte anew
                return await self.client.post(PATH, data=data, files=files)
        except (httpx.TransportError, TimeoutError) as error:
            raise classify.broken(error, self.terms.url) from error

    async def edited(self, response: httpx.Response, edit: Edit, canvas: Canvas) -> Edited:
        """Whoever answers with something else than a picture may have charged for it all the same."""
        try:
            told = response.json()
            picture = b64decode(told["data"][0]["b64_json"], validate=True)
        except (ValueError, LookupError, TypeError) as error:
            said = f"OpenAI answered, and there is no picture in it{classify.request_id(response)}"
            raise classify.unknown(said, "unreadable") from error
        usage = told.get("usage")
        details = {"usage": usage, "request_id": response.headers.get("x-request-id")}
        cost = charged(self.model, self.terms.price, usage_in(usage))
        try:
            data = await asyncio.to_thread(finished, picture, edit, canvas)
        except ValueError as error:
            said = f"What OpenAI answered with cannot be used: {error}"
            raise ProviderFailed(said, category="image", provider_code="image", cost=cost) from error
        return Edited(data, cost, {name: value for name, value in details.items() if value})

    async def close(self) -> None:
        await self.client.aclose()


def fields(model: str, prompt: str, canvas: Canvas) -> dict[str, str]:
    """Without `response_format`, which these models refuse: they answer in base64 anyway."""
    width, height = canvas.drawn
    wanted = {"model": model, "prompt": prompt, "size": f"{width}x{height}", "output_format": "png"}
    return wanted | ({"input_fidelity": "high"} if model in TRUE_TO_DETAIL else {})


def files_of(edit: Edit, canvas: Canvas) -> list[File]:
    """The base first, since the mask counts for that one; then the samples; and where there are several areas, their map."""
    base = canvas.laid(edit.base)
    areas = [
        (canvas.masked(region.mask), colour) for region, colour in zip(edit.regions, COLOR_NAMES.values(), strict=False)
    ]
    pictures = [base, *(sample.picture.convert("RGB") for sample in edit.samples)]
    pictures += [masks.mapped(base, areas)] if len(areas) > 1 else []
    files = [a_file("image[]", n, picture) for n, picture in enumerate(pictures)]
    mask = masks.merged((area for area, _ in areas), canvas.size)
    return [*files, a_file("mask", 0, masks.with_holes(mask))] if areas else files


def a_file(name: str, n: int, picture: Image.Image) -> File:
    """Named and typed: bytes without are refused as application/octet-stream."""
    return name, (f"{name.removesuffix('[]')}-{n}.png", as_png(picture), "image/png")


def finished(answer: bytes, edit: Edit, canvas: Canvas) -> bytes:
    return as_png(canvas.taken(opened(answer), edit.base, edit.mask()))
