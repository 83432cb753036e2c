"""The commands about the chain, as a person or a script sees them; of those that ask nodes, what is refused before any is asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import glisk
from tests.conftest import execute

CONTRACT, OTHER = "0x" + "c0" * 20, "0x" + "d1" * 20
# Read from block 10 to 100, confirmed to 90.
CURSOR = f"""
    INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash, safe_no, head_no, alarm)
    VALUES (8453, '{CONTRACT}', 10, 100, sha256('t'), 90, sha256('c'), 95, 105, 'a token is missing')"""
ANOTHER = f"""
    INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash)
    VALUES (1, '{OTHER}', 10, 9, sha256('t'), 9, sha256('t'))"""
TOKENS = f"""
    WITH a AS (INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('ab', 20)) RETURNING author_id)
    INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id) SELECT 8453, '{CONTRACT}', n, author_id
    FROM a, generate_series(1, 3) AS n"""
REORG = f"""
    INSERT INTO events (to_status, actor, data) VALUES ('reorg', 'listener', jsonb_build_object('chain_id', 8453,
      'contract', '{CONTRACT}', 'ancestor', 97, 'depth', 3, 'tip', 100, 'orphaned', 2))"""


@pytest.fixture
def database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
    return database_url


@pytest.fixture
def followed(database: str) -> str:
    for statement in (CURSOR, TOKENS, REORG):
        asyncio.run(execute(database, statement))
    return database


@pytest.fixture
def several(followed: str) -> None:
    asyncio.run(execute(followed, ANOTHER))


def listed(*arguments: str, cwd: Path) -> list[dict[str, Any]]:
    shown = glisk(*arguments, "--json", cwd=cwd)
    assert (shown.returncode, shown.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(shown.stdout)
    return found


def unwrapped(shown: str) -> str:
    """Without the frame that is drawn around it."""
    return " ".join(shown.replace("│", "").split())


@pytest.mark.parametrize("command", ["status", "reorgs", "backfill", "audit", "replay"])
def test_help_has_an_example(command: str, tmp_path: Path) -> None:
    shown = glisk("chain", command, "--help", cwd=tmp_path)
    assert shown.returncode == 0
    assert f"glisk chain {command} --" in unwrapped(shown.stdout)


def test_help_lists_what_can_be_done_to_a_chain(tmp_path: Path) -> None:
    shown = glisk("chain", "--help", cwd=tmp_path).stdout
    assert all(command in shown for command in ("status", "reorgs", "backfill", "audit", "replay"))
    assert "GLISK_RPC_URLS" in glisk("listen", "--help", cwd=tmp_path).stdout


@pytest.mark.usefixtures("database")
def test_nothing_is_followed_at_first(tmp_path: Path) -> None:
    assert listed("chain", "status", cwd=tmp_path) == []
    assert listed("chain", "reorgs", cwd=tmp_path) == []
    assert glisk("chain", "status", cwd=tmp_path).stdout == ""  # nothing that a script would take for a contract


@pytest.mark.parametrize("command", ["backfill", "audit", "replay"])
@pytest.mark.usefixtures("database")
def test_what_is_not_followed_cannot_be_read_again(command: str, tmp_path: Path) -> None:
    refused = glisk("chain", command, cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("GLK-207  This contract is not followed yet.\n")
    assert "glisk listen" in refused.stderr


@pytest.mark.usefixtures("several")
def test_a_status_tells_how_far_each_is(tmp_path: Path) -> None:
    other, found = listed("chain", "status", cwd=tmp_path)
    assert (found["chain"], found["contract"], found["head"], found["safe"]) == (8453, CONTRACT, 105, 95)
    assert (found["tip"], found["tip_lag"], found["confirmed"], found["confirmed_lag"]) == (100, 5, 90, 15)
    assert (found["tokens"], found["reorgs"], found["alarm"]) == (3, 1, "a token is missing")
    assert (other["contract"], other["head"], other["tokens"]) == (OTHER, None, 0)
    assert listed("chain", "status", "--contract", OTHER, cwd=tmp_path) == [
        {**other, "seconds_ago": pytest.approx(0, abs=60)}
    ]
    lines = glisk("chain", "status", cwd=tmp_path).stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [["chain", "contract"], ["1", OTHER], ["8453", CONTRACT]]


@pytest.mark.usefixtures("followed")
def test_reorganisations_are_listed(tmp_path: Path) -> None:
    (found,) = listed("chain", "reorgs", cwd=tmp_path)
    assert (found["what"], found["ancestor"], found["depth"], found["orphaned"]) == ("reorg", 97, 3, 2)
    assert listed("chain", "reorgs", "--contract", OTHER, cwd=tmp_path) == []


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("backfill --from 50 --to 40", "--from 50 is after --to 40"),
        ("replay --from 91", "--from 91 is after --to 90"),
        ("backfill --to 91", "--to 91 is beyond the confirmed block, which is 90: the listener reads"),
        ("replay --from 50 --to 106", "--to 106 is beyond the confirmed block, which is 90: the chain ends at 105"),
        ("backfill --from x", "'x' is no block"),
        ("replay --to -1", "'-1' is no block"),
        (f"replay --to {10**30}", "is no block"),
        ("audit --contract 0x12", "'0x12' is no contract"),
    ],
)
@pytest.mark.usefixtures("followed")
def test_blocks_that_cannot_be_read_again_are_refused(command: str, complaint: str, tmp_path: Path) -> None:
    refused = glisk("chain", *command.split(), cwd=tmp_path)
    assert refused.returncode == 2
    assert complaint in unwrapped(refused.stderr)
    assert "Traceback" not in refused.stderr


@pytest.mark.usefixtures("several")
def test_where_several_are_followed_one_must_be_named(tmp_path: Path) -> None:
    refused = glisk("chain", "audit", cwd=tmp_path)
    assert refused.returncode == 2
    assert all(one in refused.stderr for one in (f"8453:{CONTRACT}", f"1:{OTHER}"))
    early = glisk("chain", "audit", "--contract", OTHER, cwd=tmp_path)
    assert (early.returncode, "is confirmed yet" in unwrapped(early.stderr)) == (2, True)
    unknown = glisk("chain", "audit", "--contract", "5:" + OTHER, cwd=tmp_path)
    assert (unknown.returncode, unknown.stderr.startswith("GLK-207")) == (1, True)
