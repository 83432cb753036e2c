"""Who draws, who edits, who pins, and where pictures lie: asked in ways that cost nothing."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial

import httpx

from glisk.doctor.finding import Finding, Kind, Patient, Probe, ok
from glisk.providers import chosen as painters
from glisk.providers import editors
from glisk.service import prepare_objects
from glisk.settings import Settings, variable
from glisk.storage.ipfs import chosen as pinners
from glisk.storage.ipfs.blocks import ROOM
from glisk.storage.objects import Objects
from glisk.values import text

PATIENCE_S = 8.0
NO_FILE = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"  # of no bytes at all
REPLICATE, SD_WEBUI, OPENAI = (variable(name) for name in ("replicate_api_token", "sd_webui_url", "openai_api_key"))
PINNERS = {"pinata": variable("pinata_jwt"), "kubo": variable("kubo_url"), "local": variable("pinata_jwt")}


def probes(patient: Patient) -> Sequence[Probe]:
    settings = patient.settings
    return [
        drawing(settings),
        editing(settings),
        *(pinning(settings, name) for name in pinners.pinner_names(settings)),
        Probe(
            "objects",
            partial(stored, settings),
            "real" if settings.s3_bucket else "embedded",
            variable("s3_bucket"),
        ),
    ]


def drawing(settings: Settings) -> Probe:
    match painters.painter_name(settings):
        case "replicate":
            return Probe("Replicate", partial(replicate, settings), "real", REPLICATE)
        case "sd_webui":
            return Probe("Stable Diffusion web UI", partial(sd_webui, settings), "real", SD_WEBUI)
        case _:
            return Probe("studio", studio, "embedded", REPLICATE)


async def studio() -> Finding:
    return ok("draws by itself, and costs nothing")


async def replicate(settings: Settings) -> Finding:
    """Its account and its model: reading both is free."""
    painters.require_drawable(settings)
    headers = {"Authorization": f"Bearer {text(settings.replicate_api_token)}"}
    async with httpx.AsyncClient(base_url=settings.replicate_url, headers=headers, timeout=PATIENCE_S) as client:
        try:
            account = await client.get("/v1/account")
            model = await client.get(f"/v1/models/{settings.replicate_model.partition(':')[0]}")
        except httpx.HTTPError as error:
            return unreachable("Replicate", error)
    if account.status_code in (401, 403):
        return Finding(
            "broken", f"Replicate refused our token ({account.status_code})", f"Set {REPLICATE} to a valid token."
        )
    if not account.is_success:
        return Finding(
            "warning", f"Replicate answered {account.status_code}", "It may pass: https://replicatestatus.com"
        )
    if model.status_code == 404 and "deployments/" not in settings.replicate_model:
        seen = f"signed in; there is no model {settings.replicate_model}"
        return Finding("broken", seen, "Set GLISK_REPLICATE_MODEL to one that there is.")
    return ok(f"signed in; {settings.replicate_model}, {a_price(settings)}")


def a_price(settings: Settings) -> str:
    found = painters.price(settings)
    return f"about ${found.of(1, painters.USUAL_SECONDS):f} a picture" if found else "price unknown (GLISK_PRICES)"


async def sd_webui(settings: Settings) -> Finding:
    user, _, password = text(settings.sd_webui_auth).partition(":")
    auth = (user, password) if user else None
    async with httpx.AsyncClient(base_url=settings.sd_webui_url, auth=auth, timeout=PATIENCE_S) as client:
        try:
            answer = await client.get("/sdapi/v1/progress")
        except httpx.HTTPError as error:
            return unreachable("It", error)
    if answer.status_code == 401:
        return Finding("broken", "it refused our password", f"Set {variable('sd_webui_auth')}.")
    fix = "Start it with --api." if answer.status_code == 404 else "Look at its log."
    return ok("it answers") if answer.is_success else Finding("broken", f"it answered {answer.status_code}", fix)


def editing(settings: Settings) -> Probe:
    if editors.editor_name(settings) == editors.OPENAI:
        return Probe("OpenAI", partial(openai, settings), "real", OPENAI)
    return Probe(editors.DARKROOM, darkroom, "embedded", OPENAI)


async def darkroom() -> Finding:
    return ok("edits by itself, and costs nothing")


async def openai(settings: Settings) -> Finding:
    """Its model: reading that is free."""
    headers, model = {"Authorization": f"Bearer {text(settings.openai_api_key)}"}, settings.openai_image_model
    async with httpx.AsyncClient(base_url=settings.openai_url, headers=headers, timeout=PATIENCE_S) as client:
        try:
            answer = await client.get(f"/v1/models/{model}")
        except httpx.HTTPError as error:
            return unreachable("OpenAI", error)
    if answer.status_code in (401, 403):
        return Finding("broken", f"OpenAI refused our key ({answer.status_code})", f"Set {OPENAI} to a valid key.")
    if answer.status_code == 404:
        fix = f"Set {variable('openai_image_model')} to one that there is."
        return Finding("broken", f"signed in; there is no model {model}", fix)
    if not answer.is_success:
        return Finding("warning", f"OpenAI answered {answer.status_code}", "It may pass: https://status.openai.com")
    price = editors.estimate(settings)
    return ok(f"signed in; {model}, {f'at most about ${price:f} an edit' if price else 'price unknown (GLISK_PRICES)'}")


def pinning(settings: Settings, name: str) -> Probe:
    kind: Kind = "embedded" if name == "local" else "real"
    look = partial(stored, settings, ROOM) if name == "local" else partial(pins, settings, name)
    return Probe(f"IPFS, {name}", look, kind, PINNERS[name])


async def pins(settings: Settings, name: str) -> Finding:
    """Whether it has some file is a question that every key must be allowed to ask."""
    pinner = pinners.pinner(settings, name)
    try:
        await pinner.has(NO_FILE)
    finally:
        await pinner.close()
    return ok("it lets us in")


async def stored(settings: Settings, room: str = "") -> Finding:
    """A few bytes that nobody else has, put, read and taken away again."""
    prepare_objects(settings)
    objects, data = Objects.of(settings, room=room), secrets.token_bytes(32)
    kept = await objects.put(data, "application/octet-stream", "raw")
    found = await objects.get(kept.key)
    await objects.delete(kept.key)
    where = f"bucket {settings.s3_bucket}" if settings.s3_bucket else f"{settings.shown_dir / (room or 'objects')}"
    if found != data:
        return Finding("broken", f"{where} gave back something else than was put", "Look at what stands before it.")
    return ok(f"{where}, written, read and removed")


def unreachable(who: str, error: httpx.HTTPError) -> Finding:
    said = str(error) or type(error).__name__
    return Finding("broken", f"{who} cannot be reached: {said}", "Check the address, the network and the proxy.")
