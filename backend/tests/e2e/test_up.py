"""`glisk up` as `make run` starts it: real processes, real HTTP."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import httpx
import pytest

from glisk import __version__
from tests.chains import CONTRACTS
from tests.commands import a_free_port, glisk, glisk_up, stopped


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    (tmp_path / "contracts").symlink_to(CONTRACTS)
    port = a_free_port()
    monkeypatch.setenv("GLISK_PORT", str(port))
    return port


def test_it_says_what_it_runs_answers_and_says_how_to_go_on(tmp_path: Path, port: int) -> None:
    with glisk_up(tmp_path, "--no-mint") as (process, lines):
        assert [re.sub(r"^✓ +\d+\.\d s  ", "", line) for line in lines] == [
            "PostgreSQL, embedded, in glisk/postgres",
            "schema up to date",
            "development chain, embedded, in glisk/chain",
            f"http://127.0.0.1:{port} (Ctrl-C stops)",
        ]
        health = httpx.get(f"http://127.0.0.1:{port}/health")
        assert (health.status_code, health.json()) == (200, {"status": "ok", "version": __version__})
        assert "`make run` goes on with it" in stopped(process)
        assert process.returncode == 0


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_what_it_stored_is_there_after_a_stop_and_a_start(by: int, tmp_path: Path, port: int) -> None:
    with glisk_up(tmp_path, "--no-mint") as (process, _):
        made = glisk(
            "psql", "--", "-c", "INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('a', 40))", cwd=tmp_path
        )
        assert made.returncode == 0, made.stderr
        stopped(process, by)
        assert process.returncode == 0
    with glisk_up(tmp_path, "--no-mint") as (process, _):
        seen = glisk("psql", "--", "-Atc", "SELECT count(*) FROM authors", cwd=tmp_path)
        assert seen.stdout.strip() == "1"


def test_a_second_one_on_the_same_data_is_refused(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with glisk_up(tmp_path, "--no-mint"):
        monkeypatch.setenv("GLISK_PORT", str(a_free_port()))
        beside = glisk("up", cwd=tmp_path)
        monkeypatch.setenv("GLISK_PORT", str(port))
        over = glisk("up", cwd=tmp_path)
    for second in (beside, over):
        assert (second.returncode, second.stdout) == (2, "")
        assert second.stderr.startswith("GLK-103"), "not that its port is taken, which is by the first"


def test_a_taken_port_is_told_with_the_way_out_and_nothing_is_left_behind(tmp_path: Path, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        refused = glisk("up", cwd=tmp_path)
    assert refused.returncode == 2
    first, *_ = refused.stderr.splitlines()
    assert (first[:7], first.endswith(f"It is 127.0.0.1:{port} (Address already in use).")) == ("GLK-102", True)
    assert "GLISK_PORT=" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "glisk").exists()


@pytest.mark.parametrize(
    "command", [["up", "--no-mint"], ["work", "--workflow", "token"], ["work", "--process", "revealing"]]
)
def test_a_key_that_cannot_be_used_is_told_before_anybody_reveals_with_it(
    command: list[str], database_url: str, tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_REVEAL_KEY_FILE", "/nope")
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
    refused = glisk(*command, cwd=tmp_path)
    assert (refused.returncode, refused.stdout, refused.stderr[:7]) == (2, "", "GLK-511")
    assert "/nope" in refused.stderr
    assert "Fix " in refused.stderr


def test_in_one_file_its_log_is_of_one_language(tmp_path: Path, port: int) -> None:
    with glisk_up(tmp_path, "--no-mint") as (process, _):
        httpx.get(f"http://127.0.0.1:{port}/health")
        stopped(process)
    assert not [line for line in (tmp_path / "up.log").read_text().splitlines() if line.startswith("{")]


def test_commands_work_beside_it(tmp_path: Path, port: int) -> None:
    with glisk_up(tmp_path, "--no-mint"):
        assert glisk("migrate", cwd=tmp_path).returncode == 0
        assert glisk("clean", "--yes", cwd=tmp_path).stderr.startswith("GLK-103")
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200


@pytest.mark.parametrize("command", [["up", "--no-mint"], ["serve"]])
def test_the_world_is_let_in_only_when_somebody_has_a_key(
    command: list[str], tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    monkeypatch.setenv("GLISK_HOST", "0.0.0.0")
    refused = glisk(*command, cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-3].startswith("GLK-108"), refused.stderr
    assert "keys create" in refused.stderr


def test_a_missing_node_is_told_with_the_way_out(tmp_path: Path, port: int) -> None:
    (tmp_path / "contracts").unlink()
    refused = glisk("up", cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("GLK-208")
    assert "Traceback" not in refused.stderr


def test_serve_refuses_a_schema_that_nobody_migrated(tmp_path: Path, port: int) -> None:
    refused = glisk("serve", cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("GLK-703")
    assert "make migrate" in refused.stderr
