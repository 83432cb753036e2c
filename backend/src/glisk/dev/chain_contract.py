"""Puts our collection on the development chain, once."""

from __future__ import annotations

import fcntl
import secrets
from pathlib import Path
from typing import Any

import msgspec

from glisk.dev.chain_rpc import ask
from glisk.dev.locks import open_private
from glisk.errors import EmbeddedChainFailed

# The first accounts of every chain of this kind: it signs for them itself, and everybody knows their keys.
OWNER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
KEEPER = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
KEEPER_KEY = "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
NAME, SYMBOL, MINT_PRICE = "Glisk", "GLISK", 10**15
SET_KEEPER = "0x748747e6"
GAS = hex(8_000_000)


class Deployed(msgspec.Struct, frozen=True):
    address: str
    start_block: int


def deployed(home: Path, port: int, artifact: Path) -> Deployed:
    """As it was found or made. One user at a time looks, so that two who start together find the same one."""
    note = home / "contract.json"
    with open_private(home / "deploy.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = msgspec.json.decode(note.read_bytes(), type=Deployed) if note.exists() else None
        # A chain that was killed may have forgotten its last second, and with it the contract.
        if known is None or ask(port, "eth_getCode", known.address, "latest") == "0x":
            known = deploy(port, artifact)
            (draft := home / "contract.json.new").write_bytes(msgspec.json.encode(known))
            draft.rename(note)
    return known


def keeper_key(home: Path) -> Path:
    """In a file, as an operator would have it."""
    path = home / "keeper.key"
    if not path.exists():
        with open_private(draft := home / f"keeper.key.{secrets.token_hex(8)}") as file:
            file.write(KEEPER_KEY.encode())
        draft.rename(path)
    return path


def deploy(port: int, artifact: Path) -> Deployed:
    receipt = mined(port, data=creation(artifact))
    mined(port, to=receipt["contractAddress"], data=SET_KEEPER + KEEPER[2:].rjust(64, "0"))
    return Deployed(receipt["contractAddress"].lower(), int(receipt["blockNumber"], 16))


def creation(artifact: Path) -> str:
    from eth_abi.abi import encode  # takes a third of a second, and is needed once in the life of a chain

    bytecode: str = msgspec.json.decode(artifact.read_bytes(), type=dict[str, Any])["bytecode"]
    return bytecode + encode(["string", "string", "address", "uint256"], [NAME, SYMBOL, OWNER, MINT_PRICE]).hex()


def mined(port: int, **transaction: str) -> dict[str, Any]:
    """The receipt of a transaction of the owner's, in a block that does not wait for its time."""
    sent = ask(port, "eth_sendTransaction", {"from": OWNER, "gas": GAS, **transaction})
    ask(port, "evm_mine")
    receipt: dict[str, Any] | None = None
    while receipt is None:  # where a block comes with every transaction, ours may have found nothing left to take up
        receipt = ask(port, "eth_getTransactionReceipt", sent)
    if receipt["status"] != "0x1":
        raise EmbeddedChainFailed("The collection could not be put on it.")
    return receipt
