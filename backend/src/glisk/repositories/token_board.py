"""Tokens as people look at them: lists, one token with its history; and what a person decides about them.

Whatever is decided is decided about the token as it was seen: one that has changed since then is left, and told why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from glisk.engine import control
from glisk.engine.control import Move
from glisk.engine.workflow import FAILED, REVIEW
from glisk.repositories import rerunning
from glisk.repositories.board import Board, in_batches
from glisk.workflows import TOKEN, TOKENS

TO_DRAW, TO_PIN, TO_REVEAL = TOKEN.steps  # where a token waits to be drawn, pinned, revealed
# One that is drawn again has all its attempts before it, and nothing of an old picture on it, nor of what was made from that.
UNDRAWN: dict[str, Any] = {
    "generation_attempts": 0,
    **dict.fromkeys(
        ("image_url", "image_key", "image_sha256", "image_mime", "image_cid", "metadata_cid", "prompt_salt")
    ),
}
CHANGED = "it has changed since it was looked at"

LIST = """
    SELECT token_id::text, contract_address AS contract, status, generation_attempts AS attempts, prompt_source,
      generation_error AS error, detected_at, updated_at
    FROM tokens_s0 WHERE ($1::text IS NULL OR status = $1)
      AND ($2::text IS NULL OR author_id = (SELECT author_id FROM authors WHERE wallet_address = $2))
    ORDER BY id DESC LIMIT $3"""
ONE = """
    SELECT t.*, t.token_id::text AS number, encode(image_sha256, 'hex') AS sha256, a.wallet_address AS author
    FROM tokens_s0 t JOIN authors a ON a.author_id = t.author_id WHERE t.id = $1"""
SEEN = """
    SELECT id, epoch, chain_id, contract_address, token_id::text, status, finished_at IS NULL AS is_open,
      num_nulls(image_url, image_key, image_sha256, image_mime) = 0 AS is_whole,
      num_nonnulls(image_url, image_key, image_sha256, image_mime) = 0 AS is_blank,
      num_nulls(image_url, image_key) = 0 AS is_drawn, num_nulls(image_cid, metadata_cid) = 0 AS is_pinned,
      COALESCE(token_uri = 'ipfs://' || metadata_cid, false) AS is_public,
      EXISTS (SELECT FROM attempts a WHERE a.item_id = tokens_s0.id AND a.step = 'revealing' AND a.outcome = 'open') AS is_sent
    FROM tokens_s0"""
OF_COLLECTION = "($1::text IS NULL OR contract_address = $1) AND ($2::bigint IS NULL OR chain_id = $2)"
NAMED = f"{SEEN} WHERE {OF_COLLECTION} AND token_id = ANY ($3::text[]::numeric[]) ORDER BY id"
EVERY_FAILED = f"{SEEN} WHERE {OF_COLLECTION} AND status = 'failed' ORDER BY id"
AS_THEY_ARE = f"{SEEN} WHERE id = ANY ($1::bigint[]) ORDER BY id"
LOCKED = "SELECT id FROM tokens_s0 WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE"
# Not in prints.py, which loads NumPy and Pillow: a list of tokens need not wait for those.
FORGET_PRINTS = "DELETE FROM image_prints WHERE item_id = ANY ($1::bigint[])"


class Collection(Struct, frozen=True):
    """Which one is meant: by its contract and its chain, or as much of that as is known."""

    contract: str | None = None
    chain: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.chain, self.contract) if part is not None)


class Seen(Struct, frozen=True):
    """A token as it stood when a person looked."""

    id: int
    epoch: int
    chain_id: int
    contract_address: str
    token_id: str
    status: str
    is_open: bool
    is_whole: bool  # its picture, with all that the next step needs of it
    is_blank: bool  # nothing was drawn
    is_drawn: bool
    is_pinned: bool
    is_public: bool  # the chain shows what it has now
    is_sent: bool  # its reveal is on its way


class Not(Struct, frozen=True):
    """It cannot be done to this token, and why."""

    why: str


class Outcome(Struct, frozen=True):
    """Those that moved, and those that did not, by the reason."""

    moved: list[Seen]
    left: dict[str, list[Seen]]


Way: TypeAlias = Callable[[Seen], str | Not]  # where a token goes, given how it stands

ANY = Collection()


class TokenBoard(Board):
    async def newest(
        self, status: str | None = None, wallet: str | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        return await self.listed(LIST, status, wallet, limit)

    async def named(self, token_ids: Iterable[str], of: Collection = ANY) -> list[Seen]:
        """All that are called so, in whichever collections."""
        return await self.seen(NAMED, of.contract, of.chain, list(token_ids))

    async def every_failed(self, of: Collection = ANY) -> list[Seen]:
        return await self.seen(EVERY_FAILED, of.contract, of.chain)

    async def whole(self, id: int) -> dict[str, Any]:
        """Everything on it, as it can be shown: without the salt, which is for its author to tell."""
        (row,) = await self.listed(ONE, id)
        del row["prompt_salt"]
        shown = {"token_id": row.pop("number"), "image_sha256": row.pop("sha256")}
        hashes = {name: f"0x{value.hex()}" for name, value in row.items() if isinstance(value, bytes)}
        return row | hashes | shown

    async def accept(self, tokens: Sequence[Seen], actor: str, reason: str | None = None) -> Outcome:
        """Out of review, with the picture that is there, to the first step whose facts are missing."""
        return await self.send_on(tokens, accepted, actor, reason)

    async def reject(self, tokens: Sequence[Seen], actor: str, reason: str | None = None) -> Outcome:
        """Out of review, to be drawn again."""
        return await self.send_on(tokens, rejected, actor, reason)

    async def hold(self, tokens: Sequence[Seen], actor: str, reason: str | None = None) -> Outcome:
        """Into review, from wherever they are."""
        return await self.send_on(tokens, held, actor, reason)

    async def retry(self, tokens: Sequence[Seen], actor: str, reason: str | None = None) -> Outcome:
        """From `failed` to the first step whose facts are missing."""
        return await self.send_on(tokens, retried, actor, reason)

    async def cancel(self, tokens: Sequence[Seen], actor: str, reason: str | None = None) -> Outcome:
        """Whatever is being done to them by now: it is the token that a person wants to end."""
        moved: list[int] = []
        for some in in_batches(tokens):
            moved += await control.cancel(self.link, TOKENS, [token.id for token in some], actor, reason=reason)
        return await self.outcome(tokens, moved, cancelled)

    async def rerun(self, tokens: Sequence[Seen], step: str, actor: str, reason: str | None = None) -> Outcome:
        """Through this step once more, and all that follow. What was made from there on is forgotten."""
        facts = rerunning.UNPINNED if step == rerunning.PINNING else {}
        return await self.send_on(tokens, rerun_from(step), actor, reason or f"rerun from {step}", facts)

    async def send_on(
        self, tokens: Sequence[Seen], way: Way, actor: str, reason: str | None, facts: dict[str, Any] | None = None
    ) -> Outcome:
        moved: list[int] = []
        for some in in_batches(tokens):
            for (was, status), group in by_way(some, way).items():
                forgotten = UNDRAWN if status == TO_DRAW else facts or {}
                moved += await self.move(group, Move(status, actor, was=was, reason=reason, facts=forgotten), way)
        return await self.outcome(tokens, moved, way)

    async def move(self, tokens: Sequence[Seen], to: Move, way: Way) -> list[int]:
        """Looked at once more under their locks: that a reveal is sent changes nothing on the row."""
        async with self.link.transaction() as fetch:
            await fetch(LOCKED, [token.id for token in tokens])
            rows = await fetch(AS_THEY_ARE, [token.id for token in tokens])
            can = {row["id"] for row in rows if way(Seen(**row)) == to.status}
            seen = [token for token in tokens if token.id in can]
            epochs = [token.epoch for token in seen]
            moved = await control.move(fetch, TOKENS, [token.id for token in seen], to, epochs=epochs)
            if to.status == TO_DRAW:
                await fetch(FORGET_PRINTS, moved)
            return moved

    async def outcome(self, tokens: Sequence[Seen], moved: Iterable[int], way: Way) -> Outcome:
        """Why the others stayed is read from how they stand now."""
        ids, left = set(moved), defaultdict[str, list[Seen]](list)
        for token in await self.seen(AS_THEY_ARE, [token.id for token in tokens if token.id not in ids]):
            found = way(token)
            left[found.why if isinstance(found, Not) else CHANGED].append(token)
        return Outcome([token for token in tokens if token.id in ids], dict(left))

    async def seen(self, sql: str, *arguments: Any) -> list[Seen]:
        return [Seen(**row) for row in await self.listed(sql, *arguments)]


def by_way(tokens: Iterable[Seen], way: Way) -> dict[tuple[str, str], list[Seen]]:
    """Together those that come from the same status and go to the same; without those that cannot go."""
    groups = defaultdict[tuple[str, str], list[Seen]](list)
    for token in tokens:
        if not isinstance(status := way(token), Not):
            groups[token.status, status].append(token)
    return groups


def accepted(token: Seen) -> str | Not:
    if token.status != REVIEW:
        return Not(f"{token.status}, not in review")
    if token.is_whole or token.is_blank:
        return first_missing(is_drawn=token.is_drawn, is_pinned=token.is_pinned)
    return Not("its picture is not all there; reject it, and another is drawn")


def held(token: Seen) -> str | Not:
    if not token.is_open or token.status == REVIEW:
        return Not(f"already {token.status}")
    return Not(rerunning.ON_ITS_WAY) if token.is_sent else REVIEW


def rejected(token: Seen) -> str | Not:
    return TO_DRAW if token.status == REVIEW else Not(f"{token.status}, not in review")


def retried(token: Seen) -> str | Not:
    if token.status != FAILED:
        return Not(f"{token.status}, not failed")
    return first_missing(is_drawn=token.is_drawn, is_pinned=token.is_pinned)


def rerun_from(step: str) -> Way:
    def way(token: Seen) -> str | Not:
        why = rerunning.refusal(token, step)
        return Not(why) if why else rerunning.WAITING[step]

    return way


def first_missing(*, is_drawn: bool, is_pinned: bool) -> str:
    """Where a token goes on that has come out of its way: at the first step whose facts it lacks."""
    if not is_drawn:
        return TO_DRAW
    return TO_REVEAL if is_pinned else TO_PIN


def cancelled(token: Seen) -> str | Not:
    if token.status == REVIEW:
        return Not("in review; accept or reject it")
    return FAILED if token.is_open else Not(f"already {token.status}")
