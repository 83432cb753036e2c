"""Who pins? As the settings say, the first one at once and the others by and by; with none, the embedded store."""

from __future__ import annotations

from glisk.settings import Settings, wanted
from glisk.storage.ipfs.port import Pinner
from glisk.values import text


def pinner_names(settings: Settings) -> list[str]:
    if settings.pinners:
        return settings.pinners.split(",")
    if text(settings.pinata_jwt):
        return ["pinata"]
    return ["kubo"] if settings.kubo_url else ["local"]


def pinners(settings: Settings) -> list[Pinner]:
    return [pinner(settings, name) for name in pinner_names(settings)]


def pinner(settings: Settings, name: str) -> Pinner:
    """Each is loaded only when it is one of them."""
    match name:
        case "pinata":
            return pinata(settings)
        case "kubo":
            return kubo(settings)
        case _:
            return local(settings)


def pinata(settings: Settings) -> Pinner:
    from glisk.storage.ipfs.pinata import Pinata

    jwt = wanted(settings, "pinata_jwt", "the key (JWT) of your account at Pinata", by="pinners")
    return Pinata(jwt, settings.pinata_url, settings.pinata_upload_url)


def kubo(settings: Settings) -> Pinner:
    from glisk.storage.ipfs.kubo import Kubo

    return Kubo(
        wanted(settings, "kubo_url", "the node's address, like http://127.0.0.1:5001,", by="pinners"),
        text(settings.kubo_auth),
    )


def local(settings: Settings) -> Pinner:
    from glisk.storage.ipfs.blocks import Blocks
    from glisk.storage.ipfs.local import Local

    return Local(Blocks.of(settings))
