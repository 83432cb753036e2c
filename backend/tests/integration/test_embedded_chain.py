"""The embedded development chain: mining by itself, shared by its users, never outliving them, and never forgetting."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from glisk.dev import chain, chain_contract, sharing
from glisk.dev.chain import DevChain
from glisk.dev.chain_contract import KEEPER, OWNER
from glisk.dev.chain_rpc import ask
from glisk.errors import EmbeddedChainFailed
from tests.chains import Chain, reached

# Uses the chain in the directory it is given, says where, and lets go when it reads a line.
USER = """
import sys
from pathlib import Path
from glisk.dev.chain import running
with running(Path(sys.argv[1]), None) as chain:
    print(chain.url, chain.contract, flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another_user_of(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        [sys.executable, "-c", USER, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        yield process, process.stdout.readline().strip()
        process.kill()


def port_of(found: DevChain) -> int:
    port = urlsplit(found.url).port
    assert port
    return port


def node_of(found: DevChain) -> psutil.Process:
    listening = [each for each in psutil.net_connections("tcp4") if each.status == psutil.CONN_LISTEN]
    return psutil.Process(next(each.pid for each in listening if each.laddr.port == port_of(found)))


def block(found: DevChain, tag: str) -> dict[str, Any]:
    return dict(ask(port_of(found), "eth_getBlockByNumber", tag, False))


def height(found: DevChain, tag: str = "latest") -> int:
    return int(block(found, tag)["number"], 16)


async def mint(found: DevChain, quantity: int) -> list[int]:
    """The ids of all tokens there are then."""
    async with reached(port_of(found)) as there:
        await there.mint(quantity=quantity, contract=found.contract)
        return await ids(there, found)


async def ids(there: Chain, found: DevChain) -> list[int]:
    return [token.token_id for token in await there.mints(found.contract)]


def until_saved(home: Path, found: DevChain) -> None:
    """All that is there now; the test's timeout is the limit."""
    wanted = height(found)
    while saved(home) < wanted:
        pass


def saved(home: Path) -> int:
    state = home / "state.json"
    return int(json.loads(state.read_text())["best_block_number"]) if state.exists() else -1


def test_a_block_comes_every_second_and_the_safe_one_follows(tmp_path: Path) -> None:
    with chain.running(tmp_path / "chain") as found:
        first = height(found)
        while height(found) < first + 2:
            pass
        times = [int(block(found, hex(n))["timestamp"], 16) for n in (first + 1, first + 2)]
        assert 1 <= times[1] - times[0] <= 2
        safe, latest = height(found, "safe"), height(found)
        assert first < safe < latest <= safe + 2  # one behind, and perhaps a new one between the two questions


def test_our_collection_is_on_it_with_an_owner_and_a_keeper(tmp_path: Path) -> None:
    with chain.running(tmp_path / "chain", None) as found:
        assert found.chain_id == int(ask(port_of(found), "eth_chainId"), 16)
        assert found.ws_url == found.url.replace("http", "ws")
        for name, account in {"8da5cb5b": OWNER, "aced1661": KEEPER}.items():
            asked = {"to": found.contract, "data": f"0x{name}"}
            assert ask(port_of(found), "eth_call", asked, "latest")[-40:] == account[2:]
        deployed_in = block(found, hex(found.start_block))["transactions"]
        receipts = [ask(port_of(found), "eth_getTransactionReceipt", sent) for sent in deployed_in]
        assert [receipt["contractAddress"].lower() for receipt in receipts] == [found.contract]


def test_it_is_reached_from_this_machine_alone(tmp_path: Path) -> None:
    with chain.running(tmp_path / "chain", None) as found:
        listening = [each for each in node_of(found).net_connections() if each.status == psutil.CONN_LISTEN]
        assert [each.laddr.ip for each in listening] == ["127.0.0.1"]


async def test_everything_is_there_again_after_a_restart(tmp_path: Path) -> None:
    with chain.running(tmp_path / "chain", None) as first:
        await mint(first, 3)
        hashes = [block(first, hex(n))["hash"] for n in range(height(first) + 1)]
    with chain.running(tmp_path / "chain", None) as second:
        assert second == first
        assert [block(second, hex(n))["hash"] for n in range(height(second) + 1)] == hashes
        assert await mint(second, 2) == [1, 2, 3, 4, 5]


def test_the_node_has_ended_when_its_last_user_has_left(tmp_path: Path) -> None:
    with chain.running(tmp_path / "chain", None) as found:
        node = node_of(found)
        assert sharing.is_used(tmp_path / "chain")
    assert not node.is_running()
    assert not sharing.is_used(tmp_path / "chain")


def test_two_users_share_one(tmp_path: Path) -> None:
    with chain.running(tmp_path / "chain", None) as found:
        with another_user_of(tmp_path / "chain") as (_, theirs):
            assert theirs == f"{found.url} {found.contract}"
        assert height(found) > 0


def test_those_who_start_together_deploy_one_contract(tmp_path: Path) -> None:
    def used(_: int) -> tuple[DevChain, int]:
        with chain.running(tmp_path / "chain", None) as found:
            return found, int(ask(port_of(found), "eth_getTransactionCount", OWNER, "latest"), 16)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(used, range(4)))
    assert set(found) == {(found[0][0], 2)}  # the deployment, and the naming of the keeper


@pytest.mark.faults
def test_it_outlives_a_killed_user_while_there_is_another(tmp_path: Path) -> None:
    with another_user_of(tmp_path / "chain") as (starter, _), chain.running(tmp_path / "chain", None) as ours:
        starter.kill()
        starter.wait()
        assert height(ours) > 0


@pytest.mark.faults
def test_it_ends_with_its_last_user_even_by_sigkill_and_remembers_all(tmp_path: Path) -> None:
    home = tmp_path / "chain"
    with another_user_of(home) as (user, theirs):
        with chain.running(home, None) as ours:
            node = node_of(ours)
        ask(port_of(ours), "anvil_mine", hex(7))
        user.kill()
        user.wait()
        node.wait(timeout=20)
    with chain.running(home, None) as again:
        assert f"{again.url} {again.contract}" == theirs
        assert height(again) >= 7


@pytest.mark.faults
async def test_a_killed_node_is_back_on_the_same_address_with_all_that_was_saved(tmp_path: Path) -> None:
    home = tmp_path / "chain"
    with chain.running(home, None) as found:
        await mint(found, 3)
        until_saved(home, found)
        node = node_of(found)
        node.kill()
        node.wait()
        assert sharing.wait_for_port(home, EmbeddedChainFailed) == port_of(found)
        async with reached(port_of(found)) as there:
            assert await ids(there, found) == [1, 2, 3]


@pytest.mark.faults
async def test_a_killed_keeper_takes_its_node_along_and_the_next_one_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "chain"
    with chain.running(home, None) as found:
        await mint(found, 3)
        until_saved(home, found)
        node = node_of(found)
        keeper = node.parent()
        assert keeper
        keeper.kill()
        node.wait(timeout=20)
        with chain.running(home, None) as again:
            assert again.contract == found.contract
            assert await mint(again, 1) == [1, 2, 3, 4]


@pytest.mark.faults
def test_a_contract_that_was_never_saved_is_deployed_again(tmp_path: Path) -> None:
    home = tmp_path / "chain"
    with chain.running(home, None) as first:
        pass
    (home / "state.json").unlink()
    with chain.running(home, None) as second:
        assert second.contract == first.contract
        assert ask(port_of(second), "eth_getCode", second.contract, "latest") != "0x"


@pytest.mark.faults
def test_half_a_save_is_no_obstacle(tmp_path: Path) -> None:
    home = tmp_path / "chain"
    with chain.running(home, None) as first:
        pass
    (home / "state.json.new").write_text('{"half')
    with chain.running(home, None) as second:
        assert second == first


def test_a_missing_program_is_told_with_the_remedy(tmp_path: Path) -> None:
    with (
        pytest.raises(EmbeddedChainFailed, match="anvil") as caught,
        chain.running(tmp_path / "chain", contracts=tmp_path),
    ):
        pass
    assert "make run" in caught.value.fix


def test_a_chain_that_cannot_start_says_why(tmp_path: Path) -> None:
    home = tmp_path / "chain"
    home.mkdir()
    (home / "state.json").write_text("no state")
    with pytest.raises(EmbeddedChainFailed, match=r"log: .*chain/log"), chain.running(home, None):
        pass


def test_a_contract_that_is_refused_is_told_in_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"bytecode": "0xfe"}))
    with (
        chain.running(tmp_path / "chain", None) as found,
        pytest.raises(EmbeddedChainFailed, match="could not be put on it"),
    ):
        chain_contract.deploy(port_of(found), broken)
