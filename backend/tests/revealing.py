"""Tokens that a real worker reveals on a real chain, at the speed of a test."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from hexbytes import HexBytes

from glisk.chain.mint import Contract
from glisk.chain.sending.gathering import Gathering
from glisk.dev.chain_contract import KEEPER, KEEPER_KEY
from glisk.engine.claim import Claim
from glisk.engine.decide import Verdict
from glisk.engine.lanes import Lane
from glisk.engine.link import Link
from glisk.engine.worker import Pace, Station, Worker
from glisk.processors.revealing import LANE, Revealing
from glisk.settings import Settings
from glisk.values import NodeUrls
from glisk.workers.staffing import make_lanes
from glisk.workflows import JOBS, TOKENS
from tests.chains import AUTHOR, Chain, request, topic
from tests.drawing import HASTY
from tests.engines import running, true

BLOCK_TIME = 0.1
STEADY = Pace(concurrency=600, batch=200, lease=timedelta(seconds=20), poll=timedelta(milliseconds=100))
READY = """
    WITH author AS (INSERT INTO authors (wallet_address) VALUES ($3) ON CONFLICT (wallet_address)
                    DO UPDATE SET wallet_address = EXCLUDED.wallet_address RETURNING author_id)
    INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, status, image_url, image_key, image_cid, metadata_cid)
    SELECT $1, $2, n, author_id, 'ready', 'http://pictures.test/' || n, 'k' || n, 'image-' || n, 'metadata-' || n
    FROM author, generate_series($4::bigint, $5::bigint) n"""

FOLLOWED = """
    INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash, safe_no)
    VALUES ($1, $2, 0, $3, sha256('t'), $3, sha256('c'), $4)
    ON CONFLICT (chain_id, contract_address) DO UPDATE SET safe_no = EXCLUDED.safe_no"""
MINTED_IN = """
    UPDATE tokens_s0 SET minter = '0x' || repeat('ab', 20), mint_block = $1, mint_block_hash = sha256('b'), mint_tx = sha256('x'),
      mint_log = 0"""


SKIPPED = "RevealSkipped(uint256,uint8)"
Content: TypeAlias = tuple[str, bytes]  # who is called, and with what


def unpacked(raw: bytes) -> tuple[int, Content]:
    """Nonce and content of a signed transaction."""
    found = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
    return found["nonce"], (f"0x{bytes(found['to']).hex()}", bytes(found["data"]))


@dataclass(slots=True)
class Stage:
    """A database, a chain with a collection on it, and the keeper's key; workers come and go."""

    url: str
    connection: Any
    chain: Chain
    data_dir: Path
    contract: str = ""

    def settings(self, **changes: Any) -> Settings:
        usual: dict[str, Any] = {
            "data_dir": self.data_dir,
            "rpc_urls": NodeUrls(self.chain.url),
            "contracts": self.contract,
            "confirmations": 1,
            "poll_seconds": 0.05,
            "reveal_key_file": str(self.key()),
            "reveal_linger": 0.05,
        }
        return Settings(**(usual | changes))

    def together(self, tokens: int, **changes: Any) -> Settings:
        """With which so many go in one transaction, however slow the machine is."""
        return self.settings(**({"reveal_batch": tokens, "reveal_linger": 3600} | changes))

    def key(self) -> Path:
        path = self.data_dir / "keeper.key"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)
        path.write_text(KEEPER_KEY)
        return path

    async def ready(self, first: int, last: int, author: str = AUTHOR) -> None:
        """Tokens that are pinned, and on the chain as well unless somebody minted them before."""
        await self.connection.execute(READY, self.chain.chain_id, self.contract, author, first, last)

    async def minted(self, quantity: int, author: str = AUTHOR) -> None:
        """On the chain, for good, and ready to be revealed."""
        first = int(await self.chain.call(self.contract, "nextTokenId()", returns="uint256"))
        for some in range(0, quantity, 50):
            await self.chain.mint(author, min(50, quantity - some), contract=self.contract)
        await self.blocks_until("nextTokenId()", first + quantity)
        await self.next_block()  # until then they would rest for some seconds
        await self.ready(first, first + quantity - 1, author)

    async def minted_as_is(self, quantity: int, author: str = AUTHOR) -> None:
        """On the chain alone."""
        await self.chain.mint(author, quantity, contract=self.contract)

    async def follow(self, *, confirmed: int, safe: int, mint_block: int) -> None:
        """As a listener would write it down."""
        await self.connection.execute(FOLLOWED, self.chain.chain_id, self.contract, confirmed, safe)
        await self.connection.execute(MINTED_IN, mint_block)

    async def until_sent(self, transactions: int) -> None:
        """So many are stored, and the node has the last of them."""
        sql = "SELECT hash FROM chain_tx WHERE state = 'live' AND (SELECT count(*) FROM chain_tx) >= $1"
        while not (found := await self.connection.fetchval(sql, transactions)) or not await self.is_pending(found):
            await asyncio.to_thread(os.sched_yield)

    async def is_pending(self, tx_hash: bytes) -> bool:
        found = await self.chain.ask("eth_getTransactionByHash", f"0x{tx_hash.hex()}")
        return found is not None and found["blockHash"] is None

    async def minted_soon(self, quantity: int) -> None:
        """In the next block, whenever that comes; and ready to be revealed."""
        first = int(await self.chain.call(self.contract, "nextTokenId()", returns="uint256"))
        wanted = self.chain.mint_request(AUTHOR, quantity, contract=self.contract)
        await self.chain.ask("eth_sendTransaction", {"gas": hex(8_000_000), **wanted})
        await self.ready(first, first + quantity - 1)

    async def blocks_until_nonce(self, nonce: int) -> None:
        while await self.nonce() < nonce:
            await asyncio.to_thread(os.sched_yield)

    async def until_stored(self, transactions: int) -> None:
        await true(self.connection, f"SELECT count(*) >= {transactions} FROM chain_tx")

    async def stop_mining(self) -> None:
        """With what there is final: from here on a block comes only when the test says so."""
        await self.chain.ask("evm_setIntervalMining", 0)
        await self.chain.mine(2)

    async def go_on_mining(self) -> None:
        await self.chain.ask("evm_setIntervalMining", 1)

    async def base_fee(self, wei: int) -> None:
        """What gas costs in the next block, which comes at once."""
        await self.chain.ask("anvil_setNextBlockBaseFeePerGas", hex(wei))
        await self.chain.mine()

    async def until_replaced(self, transactions: int) -> None:
        sql = "SELECT count(*) FROM chain_tx WHERE state = 'replaced'"
        while await self.connection.fetchval(sql) < transactions:
            await asyncio.to_thread(os.sched_yield)

    async def until_blocked(self) -> None:
        """Somebody waits for a lock that somebody else has."""
        sql = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
        while not await self.connection.fetchval(sql):
            await asyncio.to_thread(os.sched_yield)

    async def blocks_until(self, function: str, value: int) -> None:
        while await self.chain.call(self.contract, function, returns="uint256") < value:
            await self.next_block()

    async def next_block(self) -> None:
        """One more than there are."""
        before = (await self.chain.head()).number
        while (await self.chain.head()).number == before:
            await asyncio.to_thread(os.sched_yield)

    @asynccontextmanager
    async def at_work(
        self, settings: Settings | None = None, *, pace: Pace = STEADY, name: str = "w"
    ) -> AsyncIterator[Revealing]:
        processor = Revealing(settings or self.settings())
        station = Station(HASTY, "ready", processor, Lane(LANE, (TOKENS, JOBS)))
        link = Link(self.url)
        await make_lanes(link, [station])
        await link.close()
        worker = Worker(self.url, [station], name, pace)
        try:
            async with running(worker):
                yield processor
        finally:
            await processor.close()

    async def hasten(self, processor: Revealing) -> None:
        """What a node may have forgotten is sent again at once."""
        sender = await processor.keepers.of(self.chain.chain_id)
        sender.rules = msgspec.structs.replace(sender.rules, again_after=0.2)

    async def gathered(self, processor: Revealing, n: int) -> Gathering[Claim, Verdict]:
        """The one group, when so many wait in it."""
        while not (groups := list(processor.groups.values())) or len(groups[0].waiting) < n:
            await asyncio.to_thread(os.sched_yield)
        return groups[0]

    async def until(self, condition: str, n: int = 1) -> None:
        await true(self.connection, f"SELECT count(*) >= {n} FROM tokens_s0 WHERE {condition}")

    async def revealed(self, n: int, settings: Settings | None = None, **terms: Any) -> None:
        async with self.at_work(settings, **terms):
            await self.until("status = 'revealed'", n)

    async def uri(self, token_id: int) -> str:
        return str(await self.chain.call(self.contract, "tokenURI(uint256)", token_id, returns="string"))

    async def uris(self, first: int, last: int) -> list[str]:
        return [await self.uri(token_id) for token_id in range(first, last + 1)]

    async def reveal_by_hand(self, token_ids: Sequence[int], uris: Sequence[str]) -> None:
        """By somebody else who has the keeper's key."""
        wanted = request(self.contract, "revealTokens(uint256[],string[])", token_ids, uris, sender=KEEPER)
        await self.chain.ask("eth_sendTransaction", {"gas": hex(8_000_000), **wanted})

    async def balance(self) -> int:
        return int(await self.chain.ask("eth_getBalance", KEEPER, "latest"), 16)

    async def nonce(self) -> int:
        return int(await self.chain.ask("eth_getTransactionCount", KEEPER, "latest"), 16)

    async def updates(self) -> list[int]:
        """Every token whose URI the contract has changed, as often as it has."""
        return await self.chain.updates(self.contract)

    async def skipped(self) -> int:
        return len(await self.chain.logs(self.contract, topic(SKIPPED)))

    async def mined(self) -> dict[int, Content]:
        """What the transactions that are said to be mined have in them on the chain."""
        rows = await self.rows("SELECT hash FROM chain_tx WHERE state = 'mined'")
        found = [await self.chain.ask("eth_getTransactionByHash", f"0x{row['hash'].hex()}") for row in rows]
        return {
            int(each["nonce"], 16): (each["to"], bytes.fromhex(each["input"][2:]))
            for each in found
            if each["blockHash"]
        }

    async def rows(self, sql: str, *arguments: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.connection.fetch(sql, *arguments)]

    async def value(self, sql: str, *arguments: Any) -> Any:
        found = await self.connection.fetchval(sql, *arguments)
        return int(found) if isinstance(found, Decimal) else found

    def address(self) -> Contract:
        return Contract(self.chain.chain_id, self.contract)
