"""From a mint to the picture in a wallet, as an operator runs it: four commands, everything embedded, two hundred tokens."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest
from eth_abi.abi import decode

from glisk.dev import postgres
from glisk.publishing.manifest import checked
from glisk.storage.ipfs.unixfs import V1_2025
from tests.chains import CONTRACTS, Chain, kept_in, request
from tests.commands import a_free_port, glisk, started, stopped
from tests.conftest import WATCHED
from tests.contract.test_ipfs_importer import told_by_node
from tests.engines import true

COMMANDS = (("serve",), ("listen",), ("work", "--workflow", "token", "--processes", "2"))
EACH = 50
PROMPTS = {"now": "A fox in the snow", "later": "A harbour at night", "never": "A city of glass", None: None}
AUTHORS = {choice: f"0x{n:040x}" for n, choice in enumerate(PROMPTS, 0xA071)}
TOKENS = EACH * len(AUTHORS)
AN_AUTHOR = "INSERT INTO authors (wallet_address, prompt_text, prompt_disclosure) VALUES ($1, $2, $3)"
ALL_ENDED = f"SELECT count(*) = {TOKENS} FROM tokens_s0 WHERE finished_at IS NOT NULL"
STATES = "SELECT status, generation_error, count(*) FROM tokens_s0 GROUP BY 1, 2"
ROWS = """
    SELECT token_id::bigint, token_uri, image_cid, metadata_cid, image_sha256, prompt_salt, a.prompt_disclosure AS choice
    FROM tokens_s0 JOIN authors a USING (author_id) ORDER BY token_id"""
LEDGER = "SELECT sum(wei) FROM attempts WHERE step = 'revealing'"
SPENT = "SELECT sum(paid_wei) FROM chain_tx WHERE state = 'mined'"


class Known(msgspec.Struct):
    """What the files of one token say."""

    metadata: dict[str, Any]
    picture: bytes


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of the server, in a checkout of the test's own, in which everything is embedded."""
    (tmp_path / "contracts").symlink_to(CONTRACTS)
    port = a_free_port()
    monkeypatch.setenv("GLISK_PORT", str(port))
    monkeypatch.setenv("GLISK_IMAGE_SIZE", "64x64")
    return f"http://127.0.0.1:{port}"


@contextmanager
def everything(cwd: Path) -> Iterator[str]:
    """At work; the database's address."""
    with ExitStack() as stack:
        assert glisk("migrate", cwd=cwd).returncode == 0
        url = stack.enter_context(postgres.running(cwd / "glisk" / "postgres"))
        parts = [stack.enter_context(started(*command, cwd=cwd)) for command in COMMANDS]
        for process in parts:
            assert process.stdout
            assert any("Ctrl-C" in line for line in process.stdout), process.args
        yield url
        for process in parts:
            stopped(process, signal.SIGTERM)
            assert process.returncode == 0


@pytest.mark.timeout(300)  # it takes half a minute, where nothing else runs
async def test_two_hundred_mints_end_in_a_wallet(url: str, tmp_path: Path) -> None:
    began = time.monotonic()
    with everything(tmp_path) as database:
        connection = await asyncpg.connect(database)
        async with kept_in(tmp_path / "glisk" / "chain") as chain:
            await mint(connection, chain)
            await true(connection, ALL_ENDED)
            assert [tuple(row) for row in await connection.fetch(STATES)] == [("revealed", None, TOKENS)]
            rows = await connection.fetch(ROWS)
            assert await uris(chain, TOKENS) == [row["token_uri"] for row in rows]
            async with httpx.AsyncClient(base_url=url, timeout=60) as wallet:
                for row in rows:
                    require_sound(row, await opened(wallet, row["token_uri"]), chain.contract)
                cids = [row[name] for row in rows for name in ("image_cid", "metadata_cid")]
                await require_the_importer_agrees(wallet, cids, tmp_path)
        transactions = await connection.fetchval("SELECT count(*) FROM chain_tx")
        assert transactions <= TOKENS / 4
        assert await connection.fetchval(LEDGER) == await connection.fetchval(SPENT) > 0
        await connection.close()
    print(
        f"{TOKENS} tokens, {transactions} transactions, {time.monotonic() - began:.1f} s with all commands and checks"
    )


async def mint(connection: asyncpg.Connection[Any], chain: Chain) -> None:
    await connection.execute(WATCHED)
    for choice, wallet in AUTHORS.items():
        await connection.execute(AN_AUTHOR, wallet, PROMPTS[choice], choice)
        await chain.mint(wallet, EACH)


async def uris(chain: Chain, last: int) -> list[str]:
    """As any wallet would ask for them."""
    asked = [request(chain.contract, "tokenURI(uint256)", token_id) for token_id in range(1, last + 1)]
    answers = await chain.ask_all([("eth_call", [wanted, "latest"]) for wanted in asked])
    return [decode(["string"], bytes.fromhex(answer[2:]))[0] for answer in answers]


async def opened(wallet: httpx.AsyncClient, uri: str) -> Known:
    """By the address that the chain tells, and from there by what is written at it."""
    metadata = msgspec.json.decode(await read(wallet, uri), type=dict[str, Any])
    return Known(metadata, await read(wallet, metadata["image"]))


async def read(wallet: httpx.AsyncClient, uri: str, **query: str) -> bytes:
    assert uri.startswith("ipfs://")
    answer = await wallet.get(f"/ipfs/{uri.removeprefix('ipfs://')}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.content


def require_sound(row: Any, files: Known, contract: str) -> None:
    provenance = files.metadata["provenance"]
    assert checked(files.metadata, Chain.chain_id, contract, row["token_id"]) == provenance["signer"]
    assert hashlib.sha256(files.picture).digest() == row["image_sha256"]
    assert provenance["image_sha256"] == f"0x{row['image_sha256'].hex()}"
    assert files.metadata["image"] == f"ipfs://{row['image_cid']}"
    assert files.metadata.get("prompt") == (PROMPTS["now"] if row["choice"] == "now" else None)
    assert (row["prompt_salt"] is None) == (row["choice"] == "never")


async def require_the_importer_agrees(wallet: httpx.AsyncClient, cids: Sequence[str], folder: Path) -> None:
    """Another implementation, in another language, has the same CIDs for the same bytes, and reads our CARs."""
    orders = list[dict[str, str | int]]()
    for cid in cids:
        path, car = folder / cid, folder / f"{cid}.car"
        path.write_bytes(await read(wallet, f"ipfs://{cid}"))
        car.write_bytes(await read(wallet, f"ipfs://{cid}", format="car"))
        orders.append({"path": str(path), "car": str(car), "chunk": V1_2025.chunk, "width": V1_2025.width})
    told = await asyncio.to_thread(told_by_node, orders)
    assert [each.imported.root for each in told] == list(cids)
    assert [each.unpacked.roots for each in told] == [[cid] for cid in cids]
    assert len(set(cids)) == 2 * TOKENS
