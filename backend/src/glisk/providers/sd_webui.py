"""Automatic1111's web UI: one call draws and answers with the picture. It keeps no receipts and sends no bill."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

import httpx

from glisk import pauses
from glisk.errors import BadOrder, NotAllowed, ProviderError, ProviderFailed, RateLimited
from glisk.providers.port import Order, Picture, Receipt

PATH = "/sdapi/v1/txt2img"
REFRESH = "/sdapi/v1/refresh-loras"
SEEDS = 2**32  # as many as its samplers tell apart; -1 would mean "any"
PAUSE = timedelta(seconds=30)  # when it asks for one and does not say how long
REACH = timedelta(seconds=10)  # to connect: a machine that is there answers that at once
TOLD = 300  # characters of what it said; a traceback may follow
FREE = Decimal(0)


@dataclass(frozen=True, slots=True)
class Options:
    """How it is reached and what it is asked for. Orders wait in its own queue, so the timeout is for all of that."""

    url: str
    username: str = ""
    password: str = field(default="", repr=False)
    checkpoint: str = ""  # empty: whichever is loaded
    sampler: str = ""  # empty: its own default
    steps: int = 28
    cfg_scale: float = 7.0
    negative_prompt: str = ""
    shares_loras: bool = False  # we put them where it looks for them
    timeout: timedelta = timedelta(minutes=5)


class SdWebui:
    name = "sd_webui"

    def __init__(self, options: Options) -> None:
        self.options, self.model = options, options.checkpoint or "the loaded checkpoint"
        self.patience = options.timeout.total_seconds()
        self.client = httpx.AsyncClient(
            base_url=options.url,
            auth=(options.username, options.password) if options.username else None,
            timeout=httpx.Timeout(self.patience, connect=min(self.patience, REACH.total_seconds())),
        )

    @property
    def takes_lora(self) -> bool:
        return self.options.shares_loras

    async def draw(self, order: Order, receipt: Receipt) -> Picture:
        """Nothing is paid for, so an order that may have been drawn already is simply drawn."""
        if order.lora:
            await self.look_for_loras()
        answer = await self.answer_to(body(order, self.options))
        if not answer.is_success:
            raise refusal(answer)
        return Picture(picture_in(answer), cost=FREE)

    async def abandon(self, order: Order, receipt: Receipt) -> Decimal | None:
        """Its interrupt stops whatever is being drawn at the moment, which may be somebody else's."""
        return FREE

    async def close(self) -> None:
        await self.client.aclose()

    async def look_for_loras(self) -> None:
        """It knows only those that were there when it last looked. An older one cannot be asked, and says so: never mind."""
        with suppress(httpx.HTTPError):
            await self.client.post(REFRESH, timeout=REACH.total_seconds())

    async def answer_to(self, question: dict[str, object]) -> httpx.Response:
        try:
            async with asyncio.timeout(self.patience):  # httpx would count from every byte anew
                return await self.client.post(PATH, json=question)
        except (TimeoutError, httpx.TimeoutException) as error:
            said = f"The web UI at {self.place} did not answer within {self.patience:g} s."
            raise ProviderFailed(said, category="timeout") from error
        except httpx.RequestError as error:
            said = f"The connection to the web UI at {self.place} failed: {str(error) or type(error).__name__}."
            raise ProviderFailed(said, category="network") from error

    @property
    def place(self) -> str:
        """Its address as a person may see it: without a password."""
        return str(self.client.base_url.copy_with(userinfo=b"")).rstrip("/")


def body(order: Order, options: Options) -> dict[str, object]:
    wanted: dict[str, object] = {
        "prompt": order.prompt + (f" <lora:{order.lora.name}:{order.lora.weight:g}>" if order.lora else ""),
        "negative_prompt": options.negative_prompt,
        "seed": order.seed % SEEDS,
        "width": order.width,
        "height": order.height,
        "steps": order.steps or options.steps,
        "cfg_scale": options.cfg_scale,
        "batch_size": 1,
        "n_iter": 1,
    }
    if options.sampler:
        wanted["sampler_name"] = options.sampler
    if options.checkpoint:
        wanted["override_settings"] = {"sd_model_checkpoint": options.checkpoint}
    return wanted


def picture_in(answer: httpx.Response) -> bytes:
    """The first of `images`, which may carry the prefix of a data URI."""
    try:
        found = answer.json()
    except ValueError as error:
        raise ProviderFailed("The web UI answered with something that is not JSON.") from error
    images = found.get("images") if isinstance(found, dict) else None
    if not isinstance(images, list) or not images or not isinstance(images[0], str) or not images[0]:
        raise ProviderFailed("The web UI answered without a picture.")
    try:
        return b64decode(images[0].rpartition(",")[2], validate=True)
    except ValueError as error:
        raise ProviderFailed("The web UI's picture is not valid base64.") from error


def refusal(answer: httpx.Response) -> ProviderError:
    status, said = answer.status_code, said_by(answer)
    code, pause = code_of(answer), pauses.asked(answer)
    if status in (401, 402, 403):
        return NotAllowed(f"The web UI did not let us in ({status}): {said}.", provider_code=code)
    if status == 404 and said == "Not Found":
        return NotAllowed("The web UI has no API (404): start it with --api.", provider_code=code)
    if status == 429 or (status == 503 and pause is not None):
        return RateLimited(f"The web UI is busy ({status}): {said}.", after=pause or PAUSE, provider_code=code)
    if status >= 500 or status == 408:
        return ProviderFailed(f"The web UI failed ({status}): {said}.", provider_code=code)
    return BadOrder(f"The web UI cannot use the order ({status}): {said}.", provider_code=code)


def said_by(answer: httpx.Response) -> str:
    """`detail` is a sentence, or FastAPI's list of what is wrong with which field; `errors` is a Python exception's text."""
    told = as_object(answer)
    detail = told.get("detail") or told.get("errors") or told.get("error") or answer.reason_phrase
    if isinstance(detail, list):
        detail = "; ".join(complaint(one) for one in detail)
    return str(detail).strip().rstrip(".")[:TOLD] or "no reason given"


def complaint(one: object) -> str:
    if not isinstance(one, dict):
        return str(one)
    place = one.get("loc")
    return f"{place[-1] if isinstance(place, list) and place else 'order'}: {one.get('msg', 'not valid')}"


def code_of(answer: httpx.Response) -> str:
    """The name of its exception if it tells, such as OutOfMemoryError; else the status."""
    name = as_object(answer).get("error")
    return name if isinstance(name, str) and name and name != "HTTPException" else str(answer.status_code)


def as_object(answer: httpx.Response) -> dict[str, object]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
