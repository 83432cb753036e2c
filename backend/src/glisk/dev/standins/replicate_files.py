"""The host of the output files: another one than the API's, where links end after an hour."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.responses import Response, StreamingResponse

from glisk.dev.standins import pictures
from glisk.dev.standins.gates import Gates
from glisk.dev.standins.pictures import Sketch
from glisk.dev.standins.replicate_prediction import Plan, Prediction, an_id

FOLDER = "xezq"
SIP = 64  # of who sends as slowly as a client bears
PADDING = 64 * 1024


@dataclass(frozen=True, slots=True)
class File:
    prediction: Prediction
    index: int


class Shelf:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.files: dict[str, File] = {}
        self.uploads: dict[str, bytes] = {}

    def put(self, prediction: Prediction, index: int, url: str) -> str:
        """Where it can be fetched."""
        token = f"{an_id()}{an_id()}"[:44]
        self.files[token] = File(prediction, index)
        return f"{url}/{FOLDER}/{token}/out-{index}.{prediction.format}"

    def data(self, file: File) -> tuple[bytes, str]:
        """The bytes and their media type."""
        prediction = file.prediction
        if (name := prediction.plan.picture) and name in self.uploads:
            return self.uploads[name], pictures.media_type(self.uploads[name])
        seed = prediction.drawn_seed + file.index
        sketch = Sketch(seed, *prediction.size, prediction.format)
        return pictures.drawn(sketch), pictures.MEDIA_TYPES[prediction.format]

    def as_data_uri(self, file: File) -> str:
        data, kind = self.data(file)
        return f"data:{kind};base64,{base64.b64encode(data).decode()}"

    async def sent(self, file: File, plan: Plan, gates: Gates) -> Response:
        data, kind = await asyncio.to_thread(self.data, file)
        kind = plan.content_type or kind
        match plan.download:
            case "html":
                return Response("<html><title>Just a moment...</title></html>", media_type="text/html; charset=UTF-8")
            case "truncated":  # and it says that this is all; `drop: mid_body` breaks its word instead
                return StreamingResponse(once(data[: len(data) // 2]), media_type=kind)
            case "trickle":
                return StreamingResponse(trickle(data, plan, gates), media_type=kind, headers=length(len(data)))
            case "oversized":
                return StreamingResponse(padded(data, plan.size_bytes), media_type=kind)
            case _:
                return Response(data, media_type=kind)


async def once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def trickle(data: bytes, plan: Plan, gates: Gates) -> AsyncIterator[bytes]:
    for start in range(0, len(data), SIP):
        yield data[start : start + SIP]
        if gates.is_closing:
            return
        await gates.rest(plan.pause_s)


async def padded(data: bytes, size: int) -> AsyncIterator[bytes]:
    """Without saying how much comes."""
    yield data[:size]
    for start in range(len(data), size, PADDING):
        yield bytes(min(PADDING, size - start))


def length(size: int) -> dict[str, str]:
    return {"content-length": str(size)}
