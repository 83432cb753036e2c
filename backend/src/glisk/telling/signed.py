"""How a message of ours is signed, so that whoever gets it knows it for ours (Standard Webhooks)."""

from __future__ import annotations

import base64
import hashlib
import hmac


def headers(secret: str, id: str, at: int, body: bytes) -> dict[str, str]:
    """`secret` is whsec_…; without one there is no signature. `id` stays the same when the message is sent again; `at` does not."""
    named = {"content-type": "application/json", "webhook-id": id, "webhook-timestamp": str(at)}
    return named | ({"webhook-signature": signature(secret, id, at, body)} if secret else {})


def signature(secret: str, id: str, at: int, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, f"{id}.{at}.".encode() + body, hashlib.sha256)).decode()
