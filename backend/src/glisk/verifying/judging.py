"""Is this the metadata of this token? Judged by its bytes alone."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from glisk.chain.mint import Contract
from glisk.errors import BadCid
from glisk.publishing.canonical import canonical
from glisk.publishing.manifest import Unsound, checked, provenance_in
from glisk.storage.ipfs import cid
from glisk.verifying.verdict import Problem, Verdict, usual_signer

SCHEME = "ipfs://"
DEEPEST = 100  # lists in lists, in metadata
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
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
    """Whatever they are."""
    try:
        metadata = parsed(data.decode())
    except ValueError:
        return Judged(["it is not JSON, or none that can be read"])
    flaws = (
        []
        if is_canonical(data, metadata)
        else ["it is not in the canonical form, which would be the same for everybody"]
    )
    try:
        signer = checked(metadata, contract.chain_id, contract.address, token_id)
    except Unsound as unsound:
        return Judged([*flaws, str(unsound)], image=image_in(metadata))
    sha256 = bytes.fromhex(provenance_in(metadata).image_sha256[2:])
    return Judged(flaws, signer, image_in(metadata), sha256)


def parsed(text: str) -> Any:
    """Python stops at what is nested too deeply, but no longer once a library of the chain's has raised the limit: then it dies."""
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


def with_signers(verdicts: Sequence[Verdict], wanted: str | None) -> tuple[list[Verdict], str | None]:
    """Whoever is signed by another than all should be, or than most are, is wrong."""
    signer = wanted or usual_signer(verdicts)
    others = Counter(verdict.signer for verdict in verdicts)[signer]
    than = f"not by {wanted}" if wanted else f"unlike {others:,} other{'s' * (others != 1)}"
    return [
        blamed(verdict, f"it is signed by {verdict.signer}, {than}")
        if verdict.signer not in (None, signer)
        else verdict
        for verdict in verdicts
    ], signer


def blamed(verdict: Verdict, why: str) -> Verdict:
    found = Problem(kind="wrong", what="signature", why=why, cid=named_in(verdict.uri or ""))
    return msgspec.structs.replace(verdict, problems=[*verdict.problems, found])


def shown(uri: str) -> str:
    return uri if len(uri) <= SHOWN else f"{uri[:SHOWN]}…"
