"""Manifests of where a picture comes from, as tests need them."""

from __future__ import annotations

from hashlib import sha256

from glisk.publishing.manifest import ZERO, Manifest, in_hex
from glisk.storage.ipfs.unixfs import dag


def a_manifest(chain_id: int, contract: str, token_id: int, picture: bytes, image_sha256: str = "") -> Manifest:
    return Manifest(
        chain_id=chain_id,
        contract=contract,
        token_id=str(token_id),
        provider="studio",
        model="m",
        version="",
        seed="7",
        prompt_commitment=ZERO,
        fallback_used=False,
        image_cid=dag(picture).root,
        image_sha256=image_sha256 or in_hex(sha256(picture).digest()),
        receipt_sha256=ZERO,
        created_at="2026-08-21T12:00:00Z",
    )
