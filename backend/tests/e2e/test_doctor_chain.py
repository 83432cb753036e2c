"""What the doctor sees of a real chain: its head, the contract, and a keeper who may reveal and can pay for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from glisk.dev.chain_contract import KEEPER
from glisk.doctor import Check, examine
from glisk.doctor.database import a_link
from glisk.repositories.chain_board import ChainBoard
from glisk.values import NodeUrls
from tests.chains import STRANGER, a_chain
from tests.revealing import BLOCK_TIME, Stage

NOBODY = "0x" + "99" * 20
A_SENDER = """
    INSERT INTO chain_sender (chain_id, address, balance_wei, fee_wei, gas_per_token)
    VALUES ($1, $2, $3::text::numeric, $4::text::numeric, 121000)"""


@pytest.fixture
async def stage(database_url: str, connection: Any, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_chain(BLOCK_TIME) as chain:
        yield Stage(database_url, connection, chain, tmp_path / "data", await chain.deploy_collection())


async def seen(stage: Stage, **changes: Any) -> dict[str, Check]:
    return {check.part: check for check in await examine(stage.settings(**changes), stage.url)}


async def test_a_chain_a_contract_and_a_keeper_with_means_are_well(stage: Stage) -> None:
    found = await seen(stage)
    assert (found["chain"].state, found["chain"].kind) == ("ok", "real")
    assert f"chain {stage.chain.chain_id} at block" in found["chain"].seen
    assert found["keeper"].state == "ok"
    assert found["keeper"].seen.startswith(KEEPER)


async def test_an_address_without_a_contract_is_told(stage: Stage) -> None:
    found = (await seen(stage, contracts=NOBODY))["chain"]
    assert (found.state, found.seen.endswith(f"there is no contract at {NOBODY}")) == ("broken", True)


async def test_a_node_that_is_not_there_beside_one_that_is_is_a_warning_and_its_key_is_not_told(stage: Stage) -> None:
    urls = NodeUrls(f"{stage.chain.url},http://127.0.0.1:1/v2/a-secret-key")
    found = (await seen(stage, rpc_urls=urls, contracts=f"{stage.chain.chain_id}:{stage.contract}"))["chain"]
    assert found.state == "warning"
    assert "a-secret-key" not in repr(found)


async def test_a_key_that_is_not_the_keepers_is_told(stage: Stage) -> None:
    path = stage.key().with_name("other.key")
    path.touch(0o600)
    path.write_text("7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6")
    found = (await seen(stage, reveal_key_file=str(path)))["keeper"]
    assert (found.state, KEEPER in found.seen, STRANGER in found.seen) == ("broken", True, True)


async def test_a_keeper_without_means_is_a_warning(stage: Stage) -> None:
    await stage.chain.ask("anvil_setBalance", KEEPER, hex(1000))
    found = (await seen(stage))["keeper"]
    assert (found.state, "about 0 reveals" in found.seen) == ("warning", True)
    assert KEEPER in found.fix


async def test_reveals_are_reckoned_as_the_pages_do_it(stage: Stage, connection: Any) -> None:
    wei = await stage.chain.ask("eth_getBalance", KEEPER, "latest")
    row = (stage.chain.chain_id, KEEPER, str(int(wei, 16)), str(7 * 10**9))
    await connection.execute(A_SENDER, *row)
    async with a_link(stage.url) as link:
        (known,) = await ChainBoard(link).keepers()
    found = (await seen(stage))["keeper"]
    assert found.seen.endswith(f"enough for about {known['reveals_left']} reveals")


async def test_a_key_that_is_not_there_is_a_real_one_on_the_embedded_chain_too(stage: Stage) -> None:
    found = (await seen(stage, rpc_urls=NodeUrls(""), contracts="", reveal_key_file="/nope"))["keeper"]
    assert (found.state, found.kind) == ("broken", "real")


async def test_a_key_file_that_others_can_read_is_told_without_what_is_in_it(stage: Stage) -> None:
    path = stage.key().with_name("open.key")
    path.write_text("7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6")
    path.chmod(0o644)
    found = (await seen(stage, reveal_key_file=str(path)))["keeper"]
    assert (found.state, found.fix) == ("broken", f"chmod 600 {path}")
    assert "7c852118" not in repr(found)
