"""What the tables say, held against the chain they were read from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.simulator.log import Log
from tests.simulator.nodes import Nodes
from tests.simulator.tree import Kind, Minted, Tree

CURSOR = "SELECT * FROM chain_cursor"
TOKENS = """
    SELECT token_id::text, status, minter, wallet_address AS author, mint_block, mint_block_hash, mint_tx, mint_log
    FROM tokens_s0 JOIN authors USING (author_id)"""
EVENTS = "SELECT block_hash, log_index, kind FROM chain_event WHERE orphaned_at IS NULL"
HOT = "SELECT number, hash, parent_hash FROM hot_block ORDER BY number"


async def differences(connection: Any, nodes: Nodes) -> list[str]:
    """Each as a sentence; none once a listener has confirmed everything that the nodes lied about. As of one moment: what a listener
    that was stopped had sent may still be committed."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        return await of_one_moment(connection, nodes)


async def of_one_moment(connection: Any, nodes: Nodes) -> list[str]:
    cursor, tree = await connection.fetchrow(CURSOR), nodes.tree
    if nodes.settled_at is None or cursor is None or cursor["halted"] or cursor["confirmed_no"] < nodes.settled_at:
        return [
            f"it did not get to the end: at step {nodes.step} {told_cursor(cursor) if cursor else 'nothing was read'}"
        ]
    tokens = {int(row["token_id"]): row for row in await connection.fetch(TOKENS)}
    events = {(row["block_hash"], row["log_index"]): row["kind"] for row in await connection.fetch(EVENTS)}
    truth, logs = tree.canonical_mints(cursor["tip_no"]), tree.canonical_logs(cursor["tip_no"])
    return [
        *of_cursor(cursor, tree),
        *of_hot_blocks(cursor, await connection.fetch(HOT)),
        *of_tokens(tokens, truth),
        *of_mint_logs(tokens, events),
        *of_events(events, logs),
        *(missing_unreadable(events, logs) if tree.kind is Kind.PLAIN else ()),
    ]


def of_cursor(cursor: Any, tree: Tree) -> Iterator[str]:
    if cursor["alarm"] is not None:
        yield f"alarm: {cursor['alarm']}"
    for name in ("tip", "confirmed"):
        block = tree.canonical[cursor[f"{name}_no"]]
        if cursor[f"{name}_hash"] != block.hash:
            yield f"the {name} block {block.number} is not the chain's"


def told_cursor(cursor: Any) -> str:
    names = ("tip_no", "confirmed_no", "head_no", "epoch", "halted", "alarm")
    return ", ".join(f"{name} {cursor[name]}" for name in names)


def of_hot_blocks(cursor: Any, rows: list[Any]) -> Iterator[str]:
    """One linked chain from the confirmed block to the tip."""
    if [row["number"] for row in rows] != list(range(cursor["confirmed_no"] + 1, cursor["tip_no"] + 1)):
        yield f"hot blocks {[row['number'] for row in rows]} between {cursor['confirmed_no']} and {cursor['tip_no']}"
    hash = cursor["confirmed_hash"]
    for row in rows:
        if row["parent_hash"] != hash:
            yield f"hot block {row['number']} does not follow on the one before"
        hash = row["hash"]
    if hash != cursor["tip_hash"]:
        yield "the last hot block is not the tip"


def of_tokens(tokens: dict[int, Any], truth: dict[int, Minted]) -> Iterator[str]:
    """None is missed, none is a ghost, each has the mint that counts."""
    for token_id, mint in truth.items():
        row = tokens.get(token_id)
        if row is None or row["status"] == "orphaned":
            yield f"missed: token {token_id} of {mint.author}, {'not there' if row is None else 'orphaned'}"
            continue
        found = Minted(token_id, row["minter"], row["author"], row["mint_block_hash"], row["mint_tx"])
        if found != mint:
            yield f"wrong: token {token_id} in block {row['mint_block']}: {told(found)} instead of {told(mint)}"
    for token_id, row in tokens.items():
        if token_id not in truth and row["status"] != "orphaned":
            yield f"ghost: token {token_id} of block {row['mint_block']}, {row['status']}"


def told(mint: Minted) -> str:
    return (
        f"author {mint.author[-2:]} minter {mint.minter[-2:]} block {mint.block_hash.hex()[:6]} tx {mint.tx.hex()[:6]}"
    )


def of_mint_logs(tokens: dict[int, Any], events: dict[tuple[bytes, int], str]) -> Iterator[str]:
    for token_id, row in tokens.items():
        if row["status"] != "orphaned" and (row["mint_block_hash"], row["mint_log"]) not in events:
            yield f"token {token_id} of block {row['mint_block']} comes from a log that is not kept"


def of_events(events: dict[tuple[bytes, int], str], logs: dict[tuple[bytes, int], Log]) -> Iterator[str]:
    for place, kind in events.items():
        entry = logs.get(place)
        if entry is None:
            yield f"{kind} log {place[1]} of block {place[0].hex()[:6]} is not a mint on the chain"
        elif entry.is_readable != (kind != "undecodable"):
            yield f"log {place[1]} of block {place[0].hex()[:6]} was read as {kind}"


def missing_unreadable(events: dict[tuple[bytes, int], str], logs: dict[tuple[bytes, int], Log]) -> Iterator[str]:
    """Nothing tells that such a log is missing; so it can be asked for only where nobody drops any."""
    for place, entry in logs.items():
        if not entry.is_readable and place not in events:
            yield f"unreadable log {place[1]} of block {place[0].hex()[:6]} was not kept"
