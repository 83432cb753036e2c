"""The embedded development chain: a real node in a directory of ours with our collection on it, shared by every process
that uses the directory."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from glisk.dev import sharing
from glisk.dev.chain_contract import deployed, keeper_key
from glisk.dev.chain_keeper import CHAIN_ID
from glisk.dev.keeping import LOOPBACK
from glisk.dev.locks import make_directory
from glisk.errors import EmbeddedChainFailed
from glisk.settings import project_root

KEEPER_MODULE = "glisk.dev.chain_keeper"
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True)
class DevChain:
    url: str
    ws_url: str
    chain_id: int
    contract: str  # in lower case
    start_block: int  # the one in which the contract was deployed
    keeper_key: Path  # a file with the private key of whoever may reveal


@contextmanager
def running(
    home: Path, block_time: timedelta | None = timedelta(seconds=1), contracts: Path | None = None
) -> Iterator[DevChain]:
    """Starts the chain if nobody has; it stops when its last user, in whatever process, is gone, and goes on from there
    the next time. Without a block time a block comes when a transaction does. `contracts` is the folder of that name."""
    contracts = contracts or project_root() / "contracts"
    make_directory(home, 0o700)
    keeper: list[str | Path] = [KEEPER_MODULE, program(contracts), *rhythm(block_time)]
    with sharing.joined(home, keeper, EmbeddedChainFailed) as port:
        contract = deployed(home, port, contracts / "artifacts" / "GliskCollection.json")
        address = f"{LOOPBACK}:{port}"
        urls = f"http://{address}", f"ws://{address}"
        yield DevChain(*urls, CHAIN_ID, contract.address, contract.start_block, keeper_key(home))


def program(contracts: Path) -> Path:
    """The node itself, not the script around it, which wants node.js."""
    machine = platform.machine().lower()
    package = f"anvil-{sys.platform}-{MACHINES.get(machine, machine)}"
    found = contracts / "node_modules" / "@foundry-rs" / package / "bin" / "anvil"
    if not found.exists():
        raise EmbeddedChainFailed(f"There is no {found}.")
    return found


def rhythm(block_time: timedelta | None) -> list[str]:
    return ["--block-time", str(block_time.total_seconds())] if block_time else []
