"""What is found out about a token: nothing, or what is wrong with it, or what of it cannot be had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from glisk.chain.mint import Contract

Status: TypeAlias = Literal["sound", "wrong", "missing", "not revealed"]
What: TypeAlias = Literal["URI", "metadata", "signature", "picture"]


class Problem(Struct, frozen=True, kw_only=True, gc=False):
    """`kind` tells integrity from availability. `gateway` is empty where it is the same through all of them."""

    kind: Literal["wrong", "missing"]
    what: What
    why: str
    gateway: str = ""
    cid: str = ""

    @property
    def where(self) -> str:
        if self.cid:
            return f"{self.gateway}/ipfs/{self.cid}" if self.gateway else f"ipfs://{self.cid}"
        return "the chain" if self.what == "URI" else self.gateway


class Verdict(Struct, frozen=True, kw_only=True):
    """Of one token. `is_whole`: its metadata and its picture were had, and were checked, through one gateway or another."""

    token_id: int
    uri: str | None
    is_revealed: bool = True
    is_whole: bool = False
    image_cid: str | None = None
    signer: str | None = None
    problems: Sequence[Problem] = ()

    @property
    def status(self) -> Status:
        if any(problem.kind == "wrong" for problem in self.problems):
            return "wrong"
        if not self.is_revealed:
            return "not revealed"
        return "sound" if self.is_whole else "missing"


class Report(Struct, frozen=True, kw_only=True):
    """Of a collection. `signer`: who has signed the metadata, or should have; None: nobody has."""

    contract: Contract
    verdicts: Sequence[Verdict]
    gateways: Sequence[str]
    signer: str | None

    def count(self, status: Status) -> int:
        return sum(verdict.status == status for verdict in self.verdicts)
