"""A real chain of a test's own: deployed to, minted on, reorganised, and asked for the truth."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
from eth_abi.abi import decode, encode
from eth_utils.abi import event_signature_to_log_topic, function_signature_to_4byte_selector

from glisk.chain.mint import Header
from glisk.dev import chain as dev
from glisk.dev.chain_contract import KEEPER, MINT_PRICE, OWNER
from glisk.dev.chain_keeper import CHAIN_ID, arguments, is_listening
from glisk.dev.keeping import LOOPBACK

CONTRACTS = Path(__file__).parents[2] / "contracts"
MINTER = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc"  # who mints when nobody is named
STRANGER = "0x90f79bf6eb2c4f870365e785982e1f101e93b906"
AUTHOR = "0x00000000000000000000000000000000000a0701"
ENOUGH_GAS = hex(16_000_000)
KEPT_STATES = "2000"  # how deep a reorg can be, and how far back a contract can be asked
BATCH = 500

TRANSFER = "Transfer(address,address,uint256)"
CONSECUTIVE = "ConsecutiveTransfer(uint256,uint256,address,address)"
ONE_UPDATED, MANY_UPDATED = "MetadataUpdate(uint256)", "BatchMetadataUpdate(uint256,uint256)"
NOBODY = "0x" + 64 * "0"


class Minted(NamedTuple):
    """One token as the chain has it now. Where the contract knows of no author, that is the minter."""

    token_id: int
    minter: str
    author: str
    block_hash: bytes


class Refused(Exception):
    """The chain's own words; `data` is what a contract reverted with."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.data = str(error.get("data") or "")

    def is_error(self, signature: str) -> bool:
        return self.data.startswith(f"0x{selector(signature)}")


class Chain:
    """A block comes with every transaction, unless `automine(False)`. Addresses are in lower case. Where a contract is
    asked for and none is given, the first one deployed is meant."""

    chain_id = CHAIN_ID

    def __init__(self, port: int, client: httpx.AsyncClient) -> None:
        self.url, self.ws_url = f"http://{LOOPBACK}:{port}", f"ws://{LOOPBACK}:{port}"
        self.client = client
        self.contract = ""
        self.is_automining = True

    async def ask(self, method: str, *params: Any) -> Any:
        return (await self.ask_all([(method, list(params))]))[0]

    async def ask_all(self, questions: Sequence[tuple[str, list[Any]]]) -> list[Any]:
        """In one request; the first refusal is raised."""
        body = [{"jsonrpc": "2.0", "id": n, "method": method, "params": p} for n, (method, p) in enumerate(questions)]
        answers = (await self.client.post(self.url, json=body)).json()
        for answer in answers:
            if "error" in answer:
                raise Refused(answer["error"])
        return [answer["result"] for answer in sorted(answers, key=lambda answer: int(answer["id"]))]

    async def deploy(self, name: str, *args: Any, sender: str = OWNER) -> str:
        """By the name of its artifact. The arguments are those of the constructor."""
        artifact = read_artifact(name)
        types = [entry["type"] for each in artifact["abi"] if each["type"] == "constructor" for entry in each["inputs"]]
        receipt = await self.transact({"from": sender, "data": artifact["bytecode"] + encode(types, args).hex()})
        address = str(receipt["contractAddress"]).lower()
        self.contract = self.contract or address
        return address

    async def deploy_collection(self, price: int = MINT_PRICE) -> str:
        address = await self.deploy("GliskCollection", "Glisk", "GLISK", OWNER, price)
        await self.transact(request(address, "setKeeper(address)", KEEPER, sender=OWNER))
        return address

    async def mint(self, author: str = AUTHOR, quantity: int = 1, *, minter: str = MINTER, contract: str = "") -> str:
        """The hash of the transaction, which without `automine` waits for the next block."""
        wanted = {"gas": ENOUGH_GAS, **self.mint_request(author, quantity, minter=minter, contract=contract)}
        if self.is_automining:
            return str((await self.ask("eth_sendTransactionSync", wanted))["transactionHash"])
        return str(await self.ask("eth_sendTransaction", wanted))

    def mint_request(
        self, author: str = AUTHOR, quantity: int = 1, *, minter: str = MINTER, contract: str = ""
    ) -> dict[str, Any]:
        """To be sent, or to be mined in a `reorg`."""
        to, value = contract or self.contract, quantity * MINT_PRICE
        return request(to, "mint(address,uint256)", author, quantity, sender=minter, value=value)

    async def transact(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """The receipt. What would revert is refused, and never gets into a block."""
        assert self.is_automining, "it would wait for a block"
        await self.ask("eth_call", wanted, "latest")
        receipt: dict[str, Any] = await self.ask("eth_sendTransactionSync", {"gas": ENOUGH_GAS, **wanted})
        assert receipt["status"] == "0x1", receipt
        return receipt

    async def call(self, to: str, signature: str, *args: Any, returns: str = "", at: int | str = "latest") -> Any:
        """What the function returns, one value or several: `returns` is its types, as in "address,uint256"."""
        found = await self.ask("eth_call", request(to, signature, *args), number(at))
        values = decode(returns.split(","), bytes.fromhex(found[2:]))
        return values[0] if len(values) == 1 else values

    async def mine(self, blocks: int = 1) -> None:
        await self.ask("anvil_mine", hex(blocks))

    async def automine(self, is_on: bool) -> None:
        await self.ask("evm_setAutomine", is_on)
        self.is_automining = is_on

    async def reorg(self, depth: int, txs: Iterable[tuple[dict[str, Any], int]] = ()) -> None:
        """Puts as many other blocks in place of the newest ones. What was in these is gone, unless it is among `txs`:
        requests, each with the number of the new block it is to be in, from 0."""
        await self.ask("anvil_reorg", depth, [[{"gas": ENOUGH_GAS, **tx}, block] for tx, block in txs])

    async def rollback(self, depth: int) -> None:
        """Takes the newest blocks away."""
        await self.ask("anvil_rollback", depth)

    async def snapshot(self) -> str:
        return str(await self.ask("evm_snapshot"))

    async def revert(self, snapshot: str) -> None:
        assert await self.ask("evm_revert", snapshot)

    async def head(self) -> Header:
        return await self.block("latest")

    async def block(self, at: int | str) -> Header:
        block = await self.ask("eth_getBlockByNumber", number(at), False)
        hashes = bytes.fromhex(block["hash"][2:]), bytes.fromhex(block["parentHash"][2:])
        return Header(int(block["number"], 16), *hashes, int(block["timestamp"], 16))

    async def logs(self, contract: str, *topics: str | list[str]) -> list[dict[str, Any]]:
        terms = {"fromBlock": "0x0", "toBlock": "latest", "address": contract, "topics": topics}
        return list(await self.ask("eth_getLogs", terms))

    async def updates(self, contract: str = "") -> list[int]:
        """Every token whose URI the contract has changed, as often as it has."""
        logs = await self.logs(contract or self.contract, [topic(ONE_UPDATED), topic(MANY_UPDATED)])
        words = [[int(log["data"][at : at + 64], 16) for at in range(2, len(log["data"]), 64)] for log in logs]
        return [token_id for found in words for token_id in range(found[0], found[-1] + 1)]

    async def mints(self, contract: str = "") -> list[Minted]:
        """Every token that was ever minted on the chain as it is now, by id."""
        contract = contract or self.contract
        logs = await self.logs(contract, [topic(TRANSFER), topic(CONSECUTIVE)])
        minted = sorted(each for log in logs for each in minted_by(log))
        authors = await self.authors(contract, [each.token_id for each in minted])
        return [each._replace(author=authors.get(each.token_id, each.minter)) for each in minted]

    async def authors(self, contract: str, token_ids: Sequence[int]) -> dict[int, str]:
        """As the contract itself says; nothing for one that does not know of authors."""
        asked = [request(contract, "tokenPromptAuthor(uint256)", token_id) for token_id in token_ids]
        calls = [("eth_call", [wanted, "latest"]) for wanted in asked]
        try:
            answers = [await self.ask_all(calls[n : n + BATCH]) for n in range(0, len(calls), BATCH)]
        except Refused:
            return {}
        found = ["0x" + answer[-40:] for some in answers for answer in some]
        return dict(zip(token_ids, found, strict=True))


@asynccontextmanager
async def a_chain(block_time: float | None = None) -> AsyncIterator[Chain]:
    """With a block time, a block comes every so many seconds, and not with every transaction."""
    with a_node(block_time) as port:
        async with reached(port) as chain:
            yield chain


@asynccontextmanager
async def reached(port: int) -> AsyncIterator[Chain]:
    # Reading the certificates of the world, for a node without any, takes longer than most tests.
    async with httpx.AsyncClient(timeout=60, verify=False) as client:
        yield Chain(port, client)


@asynccontextmanager
async def kept_in(home: Path) -> AsyncIterator[Chain]:
    """The embedded one that runs in this directory. A block comes when it is time for one."""
    async with reached(int((home / "port").read_text())) as chain:
        chain.contract = msgspec.json.decode((home / "contract.json").read_bytes(), type=dict[str, Any])["address"]
        chain.is_automining = False
        yield chain


@pytest.fixture
async def chain() -> AsyncIterator[Chain]:
    async with a_chain() as chain:
        yield chain


@pytest.fixture
async def collection(chain: Chain) -> str:
    """The address of a new collection, whose owner is OWNER and whose keeper is KEEPER."""
    return await chain.deploy_collection()


@contextmanager
def a_node(block_time: float | None = None) -> Iterator[int]:
    with tempfile.TemporaryDirectory() as directory:
        node, port = started(Path(directory), block_time)
        try:
            yield port
        finally:
            node.kill()
            node.wait()


def started(directory: Path, block_time: float | None = None) -> tuple[subprocess.Popen[bytes], int]:
    more = ["--prune-history", KEPT_STATES, "--gas-limit", str(10**9)]
    more += ["--block-time", str(block_time)] if block_time else []
    while True:
        port = free_port()
        node = subprocess.Popen([dev.program(CONTRACTS), *arguments(port, directory), *more], cwd=directory)
        while node.poll() is None:  # somebody else may have taken the port meanwhile
            if is_listening(node.pid, port):
                return node, port


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as probe:
        return int(probe.getsockname()[1])


def read_artifact(name: str) -> dict[str, Any]:
    folder = CONTRACTS / "artifacts"
    found = next(path for path in (folder / f"{name}.json", folder / "test" / f"{name}.json") if path.exists())
    return msgspec.json.decode(found.read_bytes(), type=dict[str, Any])


def request(to: str, signature: str, *args: Any, sender: str = MINTER, value: int = 0) -> dict[str, Any]:
    """A transaction or a question: what `signature` names, as in "mint(address,uint256)"."""
    types = [kind for kind in signature.partition("(")[2].rstrip(")").split(",") if kind]
    data = f"0x{selector(signature)}{encode(types, args).hex()}"
    return {"from": sender, "to": to, "data": data, "value": hex(value)}


def minted_by(log: dict[str, Any]) -> list[Minted]:
    event, *words = log["topics"]
    if event == topic(TRANSFER):
        sender, owner, first = words
        last = first
    else:
        first, sender, owner = words
        last = log["data"]
    if sender != NOBODY:
        return []
    minter, block_hash = f"0x{owner[-40:]}", bytes.fromhex(log["blockHash"][2:])
    return [Minted(n, minter, minter, block_hash) for n in range(int(first, 16), int(last, 16) + 1)]


def selector(signature: str) -> str:
    return function_signature_to_4byte_selector(signature).hex()


def topic(signature: str) -> str:
    return f"0x{event_signature_to_log_topic(signature).hex()}"


def number(at: int | str) -> str:
    return at if isinstance(at, str) else hex(at)
