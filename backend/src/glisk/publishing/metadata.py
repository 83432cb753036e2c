"""The metadata of a token, whole: what it shows, and signed where its picture comes from."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from datetime import UTC
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from glisk import wallets
from glisk.engine.store import Fetch
from glisk.publishing.canonical import canonical
from glisk.publishing.commitment import commitment, salt_of
from glisk.publishing.manifest import ZERO, Manifest, in_hex, signed
from glisk.publishing.origin import Origin, origin_of
from glisk.publishing.templates import Known, described
from glisk.settings import Settings

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount


def provenance_wallet(settings: Settings) -> LocalAccount:
    """Takes a second to load."""
    return wallets.opened(key_file(settings)) if settings.provenance_key_file else wallets.made(key_file(settings))


def key_file(settings: Settings) -> Path:
    """The operator's, else one of our own."""
    given = settings.provenance_key_file
    return Path(given).expanduser() if given else settings.data_dir / "keys" / "provenance.key"


async def metadata_of(
    fetch: Fetch, row: Mapping[str, Any], image_cid: str, settings: Settings, wallet: LocalAccount
) -> tuple[bytes, bytes | None]:
    """The file to pin, the same ones for as long as nothing has changed; and the salt of the prompt, to be kept for the day
    when that is told. Without a salt nobody can tell it any more."""
    origin = await origin_of(fetch, row["id"])
    return await asyncio.to_thread(written, row, origin, image_cid, settings, wallet)


def written(
    row: Mapping[str, Any], origin: Origin, image_cid: str, settings: Settings, wallet: LocalAccount
) -> tuple[bytes, bytes | None]:
    disclosure = origin.choice or settings.prompt_disclosure
    salt = salt_for(row, origin, wallet, is_kept=disclosure != "never")
    is_told = disclosure == "now" and salt is not None
    shown = described(settings, known(row, origin, is_told=is_told), image_cid)
    whole = signed(shown, manifest(row, origin, image_cid, salt), wallet, salt if is_told else None)
    return canonical(whole), None if disclosure == "never" else salt


def known(row: Mapping[str, Any], origin: Origin, *, is_told: bool) -> Known:
    return Known(
        token_id=int(row["token_id"]),
        author=origin.author,
        model=origin.model,
        provider=origin.provider,
        seed="" if origin.seed is None else str(origin.seed),
        prompt=(origin.prompt or "") if is_told else "",
        tags=tags_in(row["tags"]),
        is_authors=origin.prompt_source == "author",
    )


def manifest(row: Mapping[str, Any], origin: Origin, image_cid: str, salt: bytes | None) -> Manifest:
    promised = None if salt is None else commitment(salt, origin.prompt or "")
    return Manifest(
        chain_id=row["chain_id"],
        contract=row["contract_address"],
        token_id=str(int(row["token_id"])),
        provider=origin.provider,
        model=origin.model,
        version=origin.version,
        seed=str(origin.seed or 0),
        prompt_commitment=ZERO if promised is None else in_hex(promised),
        fallback_used=origin.prompt_source == "fallback",
        image_cid=image_cid,
        image_sha256=in_hex(row["image_sha256"]),
        receipt_sha256=ZERO if origin.receipt is None else in_hex(sha256(origin.receipt.encode()).digest()),
        created_at=origin.made_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def salt_for(row: Mapping[str, Any], origin: Origin, wallet: LocalAccount, *, is_kept: bool) -> bytes | None:
    """None where no prompt is known: there is nothing to promise. The same one each time, unless nobody is to know it ever: then whoever
    repeats the step makes another file, and what was pinned before is left."""
    if origin.prompt is None:
        return None
    if not is_kept:
        return secrets.token_bytes(32)
    return salt_of(bytes(wallet.key), row["chain_id"], row["contract_address"], int(row["token_id"]), origin.prompt)


def tags_in(column: str | None) -> list[str]:
    """Each once, in its order."""
    found = msgspec.json.decode(column) if column else []
    return list(dict.fromkeys(tag for tag in found if isinstance(tag, str) and tag))
