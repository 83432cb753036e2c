"""Is this the metadata of this token? Judged by its bytes alone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from glisk.chain.mint import Contract
from glisk.errors import BadCid
from glisk.publishing.canonical import canonical
from glisk.publishing.manifest import Unsound, checked, provenance_in
from glisk.storage.ipfs import cid

SCHEME = "ipfs://"
DEEPEST = 100  # lists in lists, in metadata
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
NOT_CANONICAL = "it is not in the canonical form, in which everybody would write the same"
SHOWN = 120  # characters of what anybody may have written


class Judged(Struct, frozen=True):
    """`flaws`: why it is not what it should be. `image`: the URI of its picture; `sha256`: what the signer says of that."""

    flaws: Sequence[str] = ()
    signer: str | None = None
    image: str | None = None
    sha256: bytes | None = None


class NotNamed(Exception):
    """Not by its content, or not in a way that we can check; the sentence says why."""


def named_in(uri: str) -> str:
    """The CID. Raises NotNamed."""
    if not uri.startswith(SCHEME):
        raise NotNamed(f"its URI is not content-addressed: {shown(uri)}")
    try:
        return str(cid.parse(uri.removeprefix(SCHEME)))
    except BadCid:
        raise NotNamed(
            f"its URI is not ipfs:// and the CID of a file (version 1, base32, SHA-256): {shown(uri)}"
        ) from None


def judged(data: bytes, contract: Contract, token_id: int) -> Judged:
    """Whatever bytes these are."""
    try:
        metadata = parsed(data.decode())
    except ValueError:
        return Judged(["it is not JSON, or none that can be read"])
    flaws = [] if is_canonical(data, metadata) else [NOT_CANONICAL]
    try:
        signer = checked(metadata, contract.chain_id, contract.address, token_id)
    except Unsound as unsound:
        return Judged([*flaws, str(unsound)], image=image_in(metadata))
    sha256 = bytes.fromhex(provenance_in(metadata).image_sha256[2:])
    return Judged(flaws, signer, image_in(metadata), sha256)


def parsed(text: str) -> Any:
    """Nothing that is nested so deeply that going through it would fail."""
    depth = 0
    for sign in re.findall(r"[\[\]{}]", STRING.sub("", text)):
        depth += 1 if sign in "[{" else -1
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")
    return json.loads(text)


def is_canonical(data: bytes, metadata: Any) -> bool:
    try:
        return canonical(metadata) == data
    except ValueError:
        return False


def image_in(metadata: Any) -> str | None:
    image = metadata.get("image") if isinstance(metadata, dict) else None
    return image if isinstance(image, str) else None


def shown(uri: str) -> str:
    return uri if len(uri) <= SHOWN else f"{uri[:SHOWN]}…"
